package source_test

import (
	"os"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// TestBareRollouts verifies that rollouts of early versions record the actions, but no times except
// the start. Such a rollout consists of lines without envelopes, or of a single object.
func TestBareRollouts(t *testing.T) {
	lines, whole := readFile(t, "testdata/bare.jsonl"), readFile(t, "testdata/whole.json")
	squeezed := string(mustParse(t, whole).AppendCanonical(nil))
	for name, test := range map[string]struct{ log, session, began string }{
		"lines":                    {lines, "5973b6c0-94b8-487b-a530-2aeb6098ae0e", "2025-08-10T12:50:53.445Z"},
		"lines, the first is lost": {lines[strings.IndexByte(lines, '\n')+1:], "", ""},
		"an object":                {whole, "1e61bd1d-5d5e-4b5c-a5a8-5ef8bd5a2b0b", "2025-05-05T19:24:54.123Z"},
		"an object on one line":    {squeezed, "1e61bd1d-5d5e-4b5c-a5a8-5ef8bd5a2b0b", "2025-05-05T19:24:54.123Z"},
		"lines with a mark":        {"\ufeff" + lines, "5973b6c0-94b8-487b-a530-2aeb6098ae0e", "2025-08-10T12:50:53.445Z"},
	} {
		if k := source.Sight([]byte(test.log)).Kind; k != source.CodexRollout {
			t.Errorf("%s: is %q", name, k)
		}
		r := recorded(t, test.log)
		claimsNothing(t, []byte(test.log), r.Draft)
		if got := r.Identifiers.SessionID; got != test.session && (test.session != "" || !r.untold["/identifiers/session_id"]) {
			t.Errorf("%s: session %q", name, got)
		}
		if got := r.Lifecycle.StartedAt.String(); test.began != "" && got != test.began {
			t.Errorf("%s: began %s", name, got)
		}
		for _, at := range []string{"/lifecycle/started_at", "/lifecycle/completed_at", "/lifecycle/final_state", "/side_effects/tool_calls", "/autonomy_budget/consumed/tool_calls"} {
			if !r.untold[at] {
				t.Errorf("%s: %s is reported", name, at)
			}
		}

		got := ""
		for i, c := range r.SideEffects.ToolCalls {
			got += c.CallID + " " + c.Tool + " " + r.status(i) + "\n"
		}
		if want := "call_1 shell succeeded\ncall_2 shell failed\n"; got != want {
			t.Errorf("%s: calls %q, want %q", name, got, want)
		}
		if w := r.SideEffects.FSWrites; len(w) != 1 || w[0].Path != "notes.md" || w[0].AfterSHA256.Digest != canon.Sum([]byte("# Notes\n")) {
			t.Errorf("%s: writes %+v", name, w)
		}
		if ignored := r.meta["ignored_records"]; ignored != nil {
			t.Errorf("%s: %v", name, ignored)
		}
	}
}

// TestNotBare verifies that a single item, and objects with other members, are not recognized as
// rollouts.
func TestNotBare(t *testing.T) {
	for _, text := range []string{
		`{"type":"message","role":"user","content":[]}`, `{"id":"x","timestamp":"2025-08-10T12:50:53Z"}`, `{"id":"x","timestamp":"soon","instructions":null}`,
		`{"id":"x","timestamp":"2025-08-10T12:50:53Z","instructions":null,"type":"note"}`, `{"session":{"user":"x"},"items":[]}`, `{"record_type":"row"}`, `[{"record_type":"state"}]`,
	} {
		if k := source.Sight([]byte(text)).Kind; k != source.Unknown {
			t.Errorf("%s is %s", text, k)
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func mustParse(t *testing.T, text string) *canon.Document {
	t.Helper()
	doc, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
