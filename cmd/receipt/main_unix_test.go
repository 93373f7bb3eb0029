//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// TestHangUp verifies that closing the terminal interrupts a run, which then cleans up.
func TestHangUp(t *testing.T) {
	// If this process was started by nohup, it ignores the signal, and its child processes would
	// ignore it, too. Catching the signal prevents this, because child processes do not inherit a
	// handler.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)

	inFolder(t, 1)
	writeFile(t, "trust.json", []byte(fixture(t, "keys/trust.json")))
	before := strings.Join(files(t), " ")
	cmd := exec.Command("receipt", "verify", "--keys", "trust.json", "--report", "r.json", "-")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	told, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if _, err := io.WriteString(in, strings.Repeat("{}\n", 100)); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); strings.Join(files(t), " ") == before && !writesHere(t, cmd.Process.Pid); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal("no report is begun")
		}
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	var message bytes.Buffer
	_, _ = bufio.NewReader(told).WriteTo(&message)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != cli.ExitUsage || !strings.Contains(message.String(), "receipt: error: interrupted") {
		t.Errorf("%v, %s", err, message.String())
	}
	if after := strings.Join(files(t), " "); after != before {
		t.Errorf("there is %s, want %s", after, before)
	}
}

// writesHere reports whether a process has an open file in the current directory. The file may have
// no name, so the function reads the list of open files in /proc on Linux.
func writesHere(t *testing.T, pid int) bool {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	open, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range open {
		if path, err := os.Readlink(link); err == nil && strings.HasPrefix(path, here+"/#") {
			return true
		}
	}
	return false
}
