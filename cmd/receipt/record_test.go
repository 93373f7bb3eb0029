package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/record"
)

// TestRecordPage: docs/record.md is what go generate writes.
func TestRecordPage(t *testing.T) {
	var want bytes.Buffer
	record.WritePage(&want)
	got, err := os.ReadFile("../../docs/record.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("docs/record.md is stale; run: go generate ./cmd/receipt")
	}
}

// addLogs adds a log of events and one of frames.
func addLogs(t *testing.T, files map[string][]byte) {
	t.Helper()
	for name, source := range map[string]string{"events.jsonl": "run.jsonl", "frames.jsonl": "run.frames.jsonl"} {
		data, err := os.ReadFile("../../receipt/record/testdata/" + source)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
}
