package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// oneLine returns the content of a fixture as a single line.
func oneLine(t *testing.T, name string) string {
	t.Helper()
	var line bytes.Buffer
	if err := json.Compact(&line, []byte(fixture(t, name))); err != nil {
		t.Fatal(err)
	}
	return line.String() + "\n"
}

// TestReportsAtOnce verifies that a client that sends a receipt and waits gets the report on it
// without sending another receipt. Only the first report is delayed until the second receipt is
// sent, because a single document is reported in a different form.
func TestReportsAtOnce(t *testing.T) {
	line := oneLine(t, "valid/task.json")
	for _, format := range []string{"json", "ndjson"} {
		cmd := exec.Command("receipt", "verify", "--integrity-only", "--format", format, "-")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(patient, func() { cmd.Process.Kill() })
		reports, seen := bufio.NewReader(out), 0
		for sent := 2; sent < 6; sent++ {
			text := line
			if sent == 2 {
				text += line
			}
			if _, err := io.WriteString(in, text); err != nil {
				t.Fatal(err)
			}
			for seen < sent {
				part, err := reports.ReadString(']')
				if err != nil {
					t.Fatalf("%s: after %d receipts %d reports, %v", format, sent, seen, err)
				}
				if strings.Contains(part, `"warnings":[`) { // the last list of a report
					seen++
				}
			}
		}
		in.Close()
		if rest, err := io.ReadAll(reports); err != nil || !bytes.Contains(rest, []byte(`"copies":4`)) {
			t.Errorf("%s: %v, %s", format, err, rest)
		}
		if err := cmd.Wait(); !late.Stop() {
			t.Fatalf("%s: killed, %v", format, err)
		}
	}
}

// TestInterruptedReports verifies that the pipe contains only complete lines if a run is
// interrupted while nobody reads its output.
func TestInterruptedReports(t *testing.T) {
	inFolder(t, 1)
	lines := strings.Repeat(oneLine(t, "valid/task.json"), 1000)
	writeFile(t, "day.jsonl", lines)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command("receipt", "verify", "--integrity-only", "--format", "ndjson", "day.jsonl")
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	untilFull(t, r)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitUsage {
		t.Errorf("exit %d", code)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	list := bytes.SplitAfter(text, []byte("\n"))
	if len(list) < 10 || len(list) > 990 {
		t.Errorf("%d lines: the pipe was not full", len(list))
	}
	if rest := list[len(list)-1]; len(rest) > 0 {
		t.Errorf("torn: %s", rest)
	}
	for _, line := range list[:len(list)-1] {
		if !json.Valid(line) {
			t.Errorf("torn: %s", line)
		}
	}
}

// untilFull waits until an unread pipe contains at least 16 KiB and has not grown for half a
// second.
func untilFull(t *testing.T, r *os.File) {
	t.Helper()
	raw, err := r.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	held, same := int32(0), 0
	for range 1200 { // a minute
		var now int32
		var code syscall.Errno
		_ = raw.Control(func(fd uintptr) {
			_, _, code = syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCINQ, uintptr(unsafe.Pointer(&now)))
		})
		if code != 0 {
			t.Fatal(code)
		}
		if same++; now != held {
			held, same = now, 0
		}
		if held >= 16<<10 && same >= 10 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%d bytes in the pipe, and no end", held)
}
