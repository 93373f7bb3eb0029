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
	if len(lines) != 4 || lines[0].ID != "command/jobs" || lines[1].ID != "command/start" || lines[2].ID != "command/memory" || lines[3].ID != "command/pace" {
		t.Fatalf("%+v", lines)
	}
	if jobs := lines[0]; !jobs.Absent && jobs.Seen <= 0 {
		t.Errorf("%+v", jobs)
	}
	if start := lines[1]; runtime.GOOS != "windows" && (start.Seen < 0.5 || lines[3].Seen <= 0) {
		t.Errorf("%+v", lines)
	}
	// A Go program needs more than 5 MiB of memory, and the command must need less than its limit.
	if memory := lines[2]; runtime.GOOS == "linux" && (memory.Seen < 5 || !memory.Met()) {
		t.Errorf("%+v", memory)
	}
}
