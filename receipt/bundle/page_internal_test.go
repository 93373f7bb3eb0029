package bundle

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/redact/secret"
)

const page = "../../docs/bundles.md"

// TestPage verifies that the tables on the page match the code.
func TestPage(t *testing.T) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for mark, rows := range map[string]string{"modes": modeRows(t), "patterns": patternRows(t)} {
		text = filled(t, text, mark, rows)
	}
	if text == string(data) {
		return
	}
	if !*Update {
		t.Fatalf("%s is not what the code does; go test ./receipt/bundle -run TestPage -update writes it", page)
	}
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// filled inserts rows between the header of a table and the mark that follows the table.
func filled(t *testing.T, text, mark, rows string) string {
	t.Helper()
	before, after, ok := strings.Cut(text, "<!-- "+mark+" -->\n")
	head := strings.LastIndex(before, "|---|\n")
	if !ok || head < 0 {
		t.Fatalf("%s has no table %s", page, mark)
	}
	return before[:head+len("|---|\n")] + rows + "<!-- " + mark + " -->\n" + after
}

// A sample is a document with a single value, and the description of that value on the page.
type sample struct{ what, json string }

// modeRows returns the rows that show the result for each kind of value in each mode.
func modeRows(t *testing.T) string {
	code := func(names string) string { return "`" + strings.Join(strings.Fields(names), "` `") + "`" }
	samples := []sample{
		{"members that contain paths of the machine: " + code(strings.Join(namesOf(true), " ")), `{"persisted_path": "/a"}`},
		{"members whose names indicate secrets: " + code(strings.Join(namesOf(false), " ")), `{"api_key": "a"}`},
		{"`path` below `event_log_pointers` and `transcript_pointers`", `{"event_log_pointers": [{"path": "/a"}]}`},
		{"`path` of `additional_roots`", `{"additional_roots": [{"path": "/a"}]}`},
		{"in any text: strings that look like secrets, and credentials in URLs", `"see https://a:b@c/ there"`},
		{"in any text, and in names: absolute paths", `"see /a/b there"`},
		{"members that contain prompts, arguments, and results: " + code(payloadNames), `{"content": "a"}`},
		{"members that may contain prompts, arguments, and results: " + code(strictNames), `{"stdout": "a"}`},
		{"everything else: ids, statuses, times, roles, hashes of arguments, tools and their schemas, transitions, checkpoints, spans, usage", `{"status": "a"}`},
	}
	var b strings.Builder
	for _, s := range samples {
		fmt.Fprintf(&b, "| %s |", s.what)
		for _, m := range []manner{{Local, false}, {Sanitized, false}, {ReplayOnly, false}, {ReplayOnly, true}} {
			fmt.Fprintf(&b, " %s |", becomes(t, s.json, m))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// becomes returns the result of applying a mode to a document that has a single value.
func becomes(t *testing.T, json string, m manner) string {
	t.Helper()
	doc, err := canon.Parse([]byte(json))
	if err != nil {
		t.Fatal(err)
	}
	marker, err := redact.NewMarker()
	if err != nil {
		t.Fatal(err)
	}
	found := newMarks(marker)
	found.search(doc.Root())
	text, err := newText(&Text{root: of(doc.Root()), manner: m, marks: found}, prior{})
	if err != nil || len(text.Entries) > 1 {
		t.Fatal(text, err)
	}
	if len(text.Entries) == 0 {
		return "kept"
	}
	return actionOf(text.Entries[0].Class)
}

// namesOf returns the sensitive names, either for paths or for secrets.
func namesOf(paths bool) (names []string) {
	for _, n := range redact.Upstream().Names {
		switch name, suffix := strings.CutPrefix(n, "*"); {
		case strings.Contains(name, "_") || name == "primary":
			if paths {
				names = append(names, n)
			}
		case !paths && (suffix || redact.Sensitive(name)):
			names = append(names, strings.Replace(n, "*", "…", 1))
		}
	}
	return names
}

// patternRows lists the patterns and how Check treats each of them.
func patternRows(t *testing.T) string {
	marker, err := redact.NewMarker()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range Shapes() {
		found, ok := marker.Mark([]byte(s.Text))
		if !ok || found.Rules[0] != s.Name {
			t.Errorf("%s: found %q", s.Name, found.Rules)
		}
		is, does := "a heuristic", "warn; `--strict` rejects it"
		if found.Certain {
			is, does = "an unambiguous form", "reject it"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, is, does)
	}
	if n := len(secret.Upstream()); n != len(Shapes()) {
		t.Errorf("there are %d patterns", n)
	}
	return b.String()
}
