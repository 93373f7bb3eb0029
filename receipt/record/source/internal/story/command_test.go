package story_test

import (
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

func TestHints(t *testing.T) {
	for text, want := range map[string]string{
		`go test ./... 2>&1 | tail`:                                         "{[] [go test]}",
		`cd x && git add . && git commit -m "git push --force" && git push`: "{[commit push] []}",
		`git -C "/a b" -c x=y push origin main -f`:                          "{[force_push] []}",
		`git push --force-with-lease`:                                       "{[force_push] []}",
		`git push origin +main`:                                             "{[force_push] []}",
		`git push --dry-run`:                                                "{[] []}",
		`echo git push; echo "go test"`:                                     "{[] []}",
		"git commit -m \"$(cat <<'EOF'\nfix: x\n\ngit push -f\nEOF\n)\"":    "{[commit] []}",
		"cat > f <<EOF\ngit push\nEOF\ngit commit -F f":                     "{[commit] []}",
		`CI=true /usr/bin/env npm run test -- --watch=false`:                "{[] [npm run test]}",
		`python3 -m pytest -q && ./gradlew test # git push`:                 "{[] [pytest gradlew test]}",
		`git`:                                    "{[] []}",
		`mise run test:ci && npm run test:unit`:  "{[] [mise run test npm run test]}",
		`git log | grep commit`:                  "{[] []}",
		`"unterminated`:                          "{[] []}",
		"cat <<EOF\nno end":                      "{[] []}",
		`(git push)`:                             "{[push] []}",
		`if git commit -am x; then git push; fi`: "{[commit push] []}",
	} {
		if got := fmt.Sprint(story.HintsIn(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func FuzzHints(f *testing.F) {
	f.Add("git push <<A\n'x\\")
	f.Fuzz(func(_ *testing.T, text string) { story.HintsIn(text) })
}
