package record_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/record"
)

var update = flag.Bool("update", false, "rewrite testdata/*.draft.json")

// A scenario is a task in testdata. NAME.jsonl contains its events, NAME.frames.jsonl its frames,
// and NAME.draft.json its draft.
type scenario struct{ name, task, tier string }

func scenarios() []scenario {
	return []scenario{
		{"run", "task_01K0RUN", ""},
		{"canceled", "task_01K0STOP", "act_with_approval"},
		{"replay", "task_replay_01K0", ""},
		{"hitl", "task_01K0HITL", ""},
		{"transcript", "task_01K0LOG", ""},
		{"current", "task_01K0NOW", "act_auto"},
	}
}

func (s scenario) options() record.Options {
	return record.Options{
		Issuer: receipt.Issuer{ID: "harness_example_cloud", Name: "Example Cloud"}, TaskID: s.task, Tier: s.tier,
		WorkspaceRef: "workspace_garden", SessionID: "session_01K0", LogURI: "artifact://" + s.task + "/events",
	}
}

// lines returns the events in a scenario.
func (s scenario) lines(t testing.TB) [][]byte {
	t.Helper()
	return bytes.Split(bytes.TrimSpace(s.read(t, ".jsonl")), []byte("\n"))
}

func (s scenario) read(t testing.TB, suffix string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", s.name+suffix))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// draft records events and returns the draft as JSON.
func draft(t testing.TB, o record.Options, events ...[]byte) string {
	t.Helper()
	r, err := record.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := r.Add(e); err != nil {
			t.Fatalf("%s: %v", e, err)
		}
	}
	d, err := r.Draft()
	if err != nil {
		t.Fatal(err)
	}
	return asJSON(t, d)
}

func asJSON(t testing.TB, d *receipt.Draft) string {
	t.Helper()
	text, err := record.JSON(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func read(t testing.TB, o record.Options, text []byte, form record.Form) *record.Log {
	t.Helper()
	l, err := record.Read(bytes.NewReader(text), o, form)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// differ describes the first difference between two strings.
func differ(a, b string) string {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	from := max(0, at-60)
	return strings.Join([]string{"got  …" + a[from:min(len(a), at+120)], "want …" + b[from:min(len(b), at+120)]}, "\n")
}

// issuerKey returns a key from the fixtures and a Trust that contains it.
func issuerKey(t testing.TB) (receipt.Signer, receipt.Trust) {
	t.Helper()
	data, err := fixtures.Read("keys/key_2026_04.private.json")
	if err != nil {
		t.Fatal(err)
	}
	private, err := keys.ParsePrivate(data)
	if err != nil {
		t.Fatal(err)
	}
	if data, err = fixtures.Read("keys/trust.json"); err != nil {
		t.Fatal(err)
	}
	trust, err := keys.ParseSet(data)
	if err != nil {
		t.Fatal(err)
	}
	return keys.NewSigner(private, nil), trust
}
