package bundle_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/bundle"
)

// surroundings lists strings that may surround a path.
var surroundings = []struct{ before, after string }{
	{"", ""}, {"", "\n"}, {"", " "}, {"\n", "\n"}, {" ", " and more"}, {"see ", "."}, {"(", ")"}, {"`", "`"}, {`"`, `"`}, {"'", "'"}, {"“", "”"},
	{`{"at":"`, `"}`}, {`{\"at\":\"`, `\"}`}, {"cwd=", ""}, {"cwd: ", ""}, {"cwd:", ""}, {"a,", ",b"}, {"[x](", ")"}, {"<", ">"}, {"\t", "\t"}, {"> ", ":12:3"},
	{"https://example.org/?cwd=", "&a=b"}, {"see https://example.org/a/b and ", ""}, {"cc -I", ""}, {"cwd%3D", ""}, {"PATH=/usr/bin:", ":/opt/bin"},
}

// strict returns the strict bundle for a run whose metadata contains the given value.
func strict(t *testing.T, text any) []byte {
	t.Helper()
	run := tree(t, file(t, "run.json"))
	put(t, run, map[string]any{"any": map[string]any{"title": text}}, "metadata")
	return exported(t, encode(t, run), bundle.Options{Mode: bundle.ReplayOnly, Strict: true}).Bytes()
}

// TestStrictPaths verifies that a strict bundle contains no absolute path, regardless of the path's
// spelling and the text around it, and that another pass changes nothing.
func TestStrictPaths(t *testing.T) {
	const needle = "ada9w8v"
	paths := []string{
		"/home/" + needle, "/home/" + needle + "/garden/bed.txt", "/Users/" + needle + " Lovelace/x.txt", `/home/` + needle + `/a\ b`, "/" + needle, "//server/" + needle,
		"file:///home/" + needle + "/x", "FILE://localhost/home/" + needle, "sqlite:////home/" + needle + "/db", "vscode-remote:///" + needle,
		`C:\Users\` + needle + `\x`, `c:/Users/` + needle, `C:\\Users\\` + needle, `\\server\share\` + needle, `\\?\C:\` + needle, `\/home\/` + needle, "%2Fhome%2F" + needle, "C:%5CUsers%5C" + needle,
		"/home/" + needle + ",/home/" + needle + "/b", "/días/" + needle,
	}

	for _, path := range paths {
		for _, a := range surroundings {
			text := a.before + path + a.after
			if strings.Contains(text, "cwd://") { // the text is a URL
				continue
			}
			once := strict(t, text)
			if bytes.Contains(once, []byte(needle)) {
				t.Fatalf("%q: %v remains", text, at(t, tree(t, once), "replay", "run_record", "metadata", "any", "title"))
			}
			if twice := sanitized(t, once, bundle.ReplayOnly, true).Bytes(); !bytes.Equal(once, twice) {
				t.Fatalf("%q: another the second time", text)
			}
		}
	}

	// The names of members are also treated as text.
	if named := strict(t, map[string]any{"/home/" + needle: 1}); bytes.Contains(named, []byte(needle)) {
		t.Error("a path in a name remains")
	}

	// Other modes keep absolute paths, as the format specifies.
	run := tree(t, file(t, "run.json"))
	put(t, run, map[string]any{"title": "see " + paths[0]}, "metadata")
	if kept := exported(t, encode(t, run), bundle.Options{Mode: bundle.ReplayOnly}).Bytes(); !bytes.Contains(kept, []byte(needle)) {
		t.Error("a path is removed without strict")
	}
}

// TestStrictKeeps verifies that a strict bundle keeps text that only resembles an absolute path.
func TestStrictKeeps(t *testing.T) {
	for _, text := range []string{
		"", "/", " / ", "a / b", "and/or", "src/bed.txt", "./src", "../src", "~/src", "$HOME/x", "${ROOT}/x", "application/json", "#/definitions/bed", "a//b", "// a comment",
		"https://example.org/garden/bed?page=2#x", "see https://example.org/a/b.", "ssh://example.org:22/a", "https://[::1]/a", "2026/05/04", "1/2", `a\nb`, `\d+\w+`, `\\d+`, "w:", "C: x", "**/x", "$.a.b",
	} {
		if got := at(t, tree(t, strict(t, text)), "replay", "run_record", "metadata", "any", "title"); got != text {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestStrictTime verifies that the processing time grows only linearly with the length of the text.
func TestStrictTime(t *testing.T) {
	for _, unit := range []string{"/", "//", `\`, `\\`, `\\a`, `\/`, "%2F", "</", "'/a ", `"/a `, "://", "/a /", "a:/ ", "C:", "/ a", "- -/", "a://"} {
		if !testsize.Linear(1<<16, func(size int) func() {
			text := strings.Repeat(unit, size/len(unit))
			return func() { bundle.WithoutPaths([]byte(text)) }
		}) {
			t.Errorf("%q takes more than linear time", unit)
		}
	}
}
