package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the list into README.md")

// A topic is a task that every harness must implement. The field what contains a regular expression
// that matches the lines of code for the task.
type topic struct{ name, what string }

// topics returns the tasks that a library should perform for a harness. A line belongs to the first
// topic that matches it.
func topics() []topic {
	return []topic{
		{"Idempotency", `Idempotency|Remember\(|r\.Use\b|Memory:|protocol\.Memory`},
		{"Versions and keys", `VersionHeader|protocol\.Version|NewDiscovery|protocol\.Card|APIKey|\.Client\b|\bAuth\b|Authenticator`},
		{"Errors", `serve\.ReplayError|protocol\.Clean|NotImplemented|WithoutText`},
		{"Lists and cursors", `WriteItems|ListParams`},
		{"Ranges and streams", `WriteRange|WriteStream|RangeParams|Appended\(\)|Ended:|ErrGone|mux\.Close`},
		{"The log and recovery", `journal\.Open|\.Append\(|journal\.Commit\{|\.journal\.Event\(|journal\.Log\(`},
		{"Receipts", `record\.New|rec\.|issuer|IssueError|sqlite\.(Open|Create)|ledger\.(Get|ErrNotFound|Close)|served\.New`},
		{"Mounting", `serve\.New|NewMux|serve\.Options|protocol\.Options|HTTPServer`},
	}
}

// few is the maximum number of lines for all topics together.
const few = 100

// A line is a line of code.
type line struct{ file, text string }

// sources returns the lines of code in this directory and in package harness.
func sources(t *testing.T) (list []line) {
	t.Helper()
	for _, pattern := range []string{"*.go", "../../internal/harness/*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for text := range strings.Lines(string(data)) {
				text, _, _ = strings.Cut(strings.TrimSpace(text), "//")
				if text = strings.TrimSpace(text); text != "" && !strings.HasPrefix(text, `"github.com/`) {
					list = append(list, line{filepath.Base(name), text})
				}
			}
		}
	}
	return list
}

// TestAuthor verifies that only a few lines in this directory and in package harness perform tasks
// that belong in a library, and that README.md lists those lines.
func TestAuthor(t *testing.T) {
	all, of, found := sources(t), map[string][]string{}, 0
	var whats []*regexp.Regexp
	for _, topic := range topics() {
		whats = append(whats, regexp.MustCompile(topic.what))
	}
	for _, l := range all {
		at := slices.IndexFunc(whats, func(what *regexp.Regexp) bool { return what.MatchString(l.text) })
		if at >= 0 {
			name := topics()[at].name
			of[name] = append(of[name], fmt.Sprintf("%-20s %s\n", l.file, l.text))
			found++
		}
	}
	if found > few || len(all) < 1500 {
		t.Errorf("%d of %d lines are not about the work of this harness, expected at most %d", found, len(all), few)
	}

	var b strings.Builder
	fmt.Fprintf(&b, "%d lines, of some %d00.\n", found, len(all)/100)
	for _, topic := range topics() {
		fmt.Fprintf(&b, "\n%s: %d.\n\n```\n%s```\n", topic.name, len(of[topic.name]), strings.Join(of[topic.name], ""))
	}
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- begin: author_test.go -->\n", "<!-- end: author_test.go -->"
	before, rest, ok := strings.Cut(string(data), begin)
	_, after, also := strings.Cut(rest, end)
	if !ok || !also {
		t.Fatal("README.md has no place for the list")
	}
	want := before + begin + "\n" + b.String() + "\n" + end + after
	if want == string(data) {
		return
	}
	if !*update {
		t.Fatalf("README.md lists other lines; go test ./cmd/agents -run TestAuthor -update writes it")
	}
	if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestNothingAgain verifies that the code in this directory and in package harness does not contain
// the names and calls that an implementation of the wire protocol needs.
func TestNothingAgain(t *testing.T) {
	again := regexp.MustCompile(`Last-Event-ID|event-stream|next_cursor|has_more|"request_id"|Idempotency-Key|Harn-Agents|WWW-Authenticate|"Bearer rk|\bhttp\.Error\(|WriteHeader\(|\.Flush\(|\.Sync\(|\.Truncate\(|supported_versions|"object":"list"|http\.Status(Unauthorized|UpgradeRequired|Gone|NotFound|Conflict|BadRequest)`)
	for _, l := range sources(t) {
		if found := again.FindString(l.text); found != "" {
			t.Errorf("%s: %s: %s", l.file, found, l.text)
		}
	}
}
