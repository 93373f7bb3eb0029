package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRecordFolderMemory: not all logs are in memory.
func TestRecordFolderMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes and reads hundreds of megabytes")
	}
	folderOfLogs(t, 0)
	files, most := 8, int64(140<<10) // kilobytes; the command takes some 60 MB for little
	if full() {
		files = 40
	}
	text := strings.Repeat("nothing to see here. ", 200)
	for n := range files {
		f, err := os.Create(filepath.Join("logs", fmt.Sprintf("big-%d.jsonl", n)))
		if err != nil {
			t.Fatal(err)
		}
		for line := range 4000 { // 17 MB
			fmt.Fprintf(f, `{"type":"assistant","sessionId":"big-%d","timestamp":"2026-04-25T10:00:00Z","uuid":"b-%d-%d","message":{"id":"m-%d-%d","model":"m","content":[{"type":"text","text":%q}]}}`+"\n", n, n, line, n, line, text)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}

	cmd := exec.Command("receipt", recordFolder()...)
	if out, err := cmd.Output(); err != nil || issued(t, string(out)) != folderSessions*folderTasks+files {
		t.Fatalf("%v: %s", err, out)
	}
	if peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; peak > most {
		t.Errorf("%d logs of 17 MB took %d KB of memory, expected at most %d", files, peak, most)
	} else {
		t.Logf("%d KB", peak)
	}
}
