package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
)

// TestCommand verifies that the command is built and measured with a few receipts.
func TestCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	b := few(t)
	var text bytes.Buffer
	var err error
	if b.sample, err = take(t.Context(), corpus.Config{Receipts: 100, Seed: seed}, 1, 1, &text); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{corpusFile: text.Bytes(), keysFile: b.sample.keyFile} {
		if err := os.WriteFile(filepath.Join(b.dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines := b.command()
	if len(lines) != 2 || lines[0].ID != "command/jobs" || lines[1].ID != "command/memory" {
		t.Fatalf("%+v", lines)
	}
	if jobs := lines[0]; !jobs.Absent && jobs.Seen <= 0 {
		t.Errorf("%+v", jobs)
	}
	// A Go program needs more than 5 MiB of memory, and the command must need less than its limit.
	if memory := lines[1]; runtime.GOOS == "linux" && (memory.Seen < 5 || !memory.Met()) {
		t.Errorf("%+v", memory)
	}
}
