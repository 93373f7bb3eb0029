package main

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/record"
)

// TestRecordPages: the pages about recording are what go generate writes.
func TestRecordPages(t *testing.T) {
	for name, write := range map[string]func(io.Writer){"record.md": record.WritePage, "events.md": record.WriteEventsPage} {
		var want bytes.Buffer
		write(&want)
		got, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Errorf("docs/%s is stale; run: go generate ./cmd/receipt", name)
		}
	}
}

// addLogs adds a log of events, one of frames, and one that an agent left.
func addLogs(t *testing.T, files map[string][]byte) {
	t.Helper()
	for name, source := range map[string]string{"events.jsonl": "testdata/run.jsonl", "frames.jsonl": "testdata/run.frames.jsonl", "session.jsonl": "source/testdata/session.jsonl"} {
		data, err := os.ReadFile("../../receipt/record/" + source)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
}
