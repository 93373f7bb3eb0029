package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestRecordFolderMemory verifies that recording a directory does not keep all logs in memory.
func TestRecordFolderMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes and reads hundreds of megabytes")
	}
	sessions := folderOfLogs(t)
	files := testsize.Of(4, 12, 40)
	most := int64(testsize.Of(110, 140)) << 10 // limit in KB; the command needs about 60 MB for a small input
	text := strings.Repeat("nothing to see here. ", 200)
	var lines bytes.Buffer
	for n := range files {
		lines.Reset()
		for line := range 4000 { // 17 MB
			fmt.Fprintf(&lines, `{"type":"assistant","sessionId":"big-%d","timestamp":"2026-04-25T10:00:00Z","uuid":"b-%d-%d","message":{"role":"assistant","id":"m-%d-%d","model":"m","content":[{"type":"text","text":"%s"}]}}`+"\n", n, n, line, n, line, text)
		}
		writeFile(t, filepath.Join("logs", fmt.Sprintf("big-%d.jsonl", n)), lines.Bytes())
	}

	cmd := exec.Command("receipt", recordFolder()...)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	peak := make(chan int64)
	go func() { peak <- highWater(cmd.Process.Pid) }()
	err := cmd.Wait()
	if err != nil || issued(t, out.String()) != sessions*folderTasks+files {
		t.Fatalf("%v: %s", err, out.String())
	}
	if peak := <-peak; peak == 0 || peak > most {
		t.Errorf("%d logs of 17 MB took %d KB of memory, expected at most %d", files, peak, most)
	} else {
		t.Logf("%d KB", peak)
	}
}

// highWater observes a process until it ends, and returns the peak memory use of that process in
// KB. The peak that getrusage(2) returns would include the memory of the test process.
func highWater(pid int) (peak int64) {
	for {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return peak
		}
		name, rest, _ := strings.Cut(string(status), "\n")
		_, line, found := strings.Cut(rest, "\nVmHWM:")
		if !found {
			return peak // the process has ended
		}
		if name == "Name:\treceipt" { // the child process is running the command and is no longer a copy of the test process
			fmt.Sscan(line, &peak)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
