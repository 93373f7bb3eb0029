package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/issue"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/schemas"
)

// TestRecordPages verifies that the documentation pages about recording match the output of
// "go generate".
func TestRecordPages(t *testing.T) {
	page, err := issue.RecordPage()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]byte{"record.md": page, "events.md": issue.EventsPage()} {
		got := readFile(t, "../../docs/"+name)
		if !bytes.Equal(got, want) {
			t.Errorf("docs/%s is stale; run: go generate ./cmd/receipt", name)
		}
	}
}

// TestEventsPage verifies that the page lists every kind and member that is read, and all values of
// decisions and statuses.
func TestEventsPage(t *testing.T) {
	page, tables := string(issue.EventsPage()), record.Tables()
	for _, kind := range tables["events"] {
		if !strings.Contains(page, "`"+kind[0]+"`") {
			t.Errorf("the page has no %s", kind[0])
		}
	}

	text, _ := schemas.Source("event")
	schema, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	members := 0
	for _, def := range schema.Root().Member("$defs").Members() {
		for name := range def.Member("properties").Members() {
			if members++; !strings.Contains(page, "\n| `"+name.String()+"` | ") {
				t.Errorf("the page has no %s", name)
			}
		}
	}
	if members < 100 {
		t.Errorf("%d members", members)
	}

	for table, member := range map[string]string{"decisions": "decision", "results": "status", "handoffs": "status"} {
		for _, w := range tables[table] {
			if w[0] != "" && !regexp.MustCompile("\n\\| `"+member+"` \\|[^\n]*\\b"+w[0]+"\\b").MatchString(page) {
				t.Errorf("the page does not explain %s as a %s", w[0], member)
			}
		}
	}
}

// addLogs adds an event log, a log of protocol frames, and an agent log.
func addLogs(t *testing.T, files map[string][]byte) {
	t.Helper()
	for name, source := range map[string]string{"events.jsonl": "testdata/run.jsonl", "frames.jsonl": "testdata/run.frames.jsonl", "session.jsonl": "source/testdata/session.jsonl"} {
		data := readFile(t, "../../receipt/record/"+source)
		files[name] = data
	}
}
