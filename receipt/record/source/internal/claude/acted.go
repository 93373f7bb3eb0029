package claude

import (
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// exited is how the result of a command that failed begins.
const exited = "Exit code "

// acted notes what a line states of a command besides its outcome: the exit code of one that
// failed, and what it did in git.
func acted(s *story.Story, c *story.Call, block, besides canon.Node) {
	if c.Does != "execute" {
		return
	}
	if rest, ok := strings.CutPrefix(textOf(block), exited); ok && block.Member("is_error").Bool() {
		digits, _, _ := strings.Cut(rest, "\n")
		if n, err := strconv.ParseUint(digits, 10, 32); err == nil {
			code := int64(n)
			c.ExitCode = &code
		}
	}

	git := besides.Member("gitOperation")
	for _, of := range []struct{ name, detail string }{{"commit", "kind"}, {"push", ""}, {"branch", "action"}, {"pr", "action"}} {
		x := git.Member(of.name)
		if x.Kind() != canon.KindObject {
			continue
		}
		action := of.name
		if word := x.Member(of.detail).String(); isWord(word) && word != "committed" {
			action += "_" + word
		}
		c.Git = story.Once(c.Git, action)
	}
}

// isWord reports a word of a closed list, as opposed to free text.
func isWord(word string) bool {
	return len(word) > 0 && len(word) <= 32 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz_") == ""
}
