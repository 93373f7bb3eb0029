//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// TestRedactDiskFull verifies that neither file is written unless there is room for both,
// regardless of which file does not fit (number 229).
func TestRedactDiskFull(t *testing.T) {
	if room := os.Getenv(roomVariable); room != "" {
		redactInRoom(room)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	inFolder(t, 200)
	before := files(t)
	for _, room := range []int{0, 512, 40_000} { // enough for neither file, for a part of a file, and for only the smaller file
		cmd := exec.Command(program, "-test.run=^TestRedactDiskFull$")
		cmd.Env = append(os.Environ(), fmt.Sprint(roomVariable, "=", room))
		out, _ := cmd.CombinedOutput()
		message := string(out)
		if cmd.ProcessState.ExitCode() != cli.ExitUsage || !strings.Contains(message, "file too large") || strings.Contains(message, "hunter2") {
			t.Errorf("room for %d bytes: %v, %s", room, cmd.ProcessState, message)
		}
		if now := files(t); !slices.Equal(now, before) {
			t.Errorf("room for %d bytes: there are %q", room, now)
		}
	}
}

// redactInRoom redacts the draft in the current directory and then ends the process.
func redactInRoom(room string) {
	signal.Ignore(syscall.SIGXFSZ) // without the signal, a write that exceeds the limit fails but does not end the process
	var limit syscall.Rlimit
	bytes, err := strconv.ParseUint(room, 10, 64)
	if err == nil {
		err = syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit)
	}
	if limit.Cur = bytes; err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	code, message := redactHere("--disclosures", "d", "-o", "r")
	fmt.Print(message)
	os.Exit(code)
}
