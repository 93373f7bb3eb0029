//go:build linux || darwin

package main

import (
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestRedactDiskFull: number 229. When there is no room for both files there is
// neither, whichever did not fit.
func TestRedactDiskFull(t *testing.T) {
	inFolder(t, 200)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Skip(err)
	}
	signal.Ignore(syscall.SIGXFSZ) // a write that goes too far fails, and does not end the test
	defer signal.Reset(syscall.SIGXFSZ)
	before := files(t)
	for _, room := range []uint64{0, 512, 40_000} { // for nothing, for a part, for the smaller file
		limit := was
		limit.Cur = room
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Skip(err)
		}
		code, message := redactHere("--disclosures", "d", "-o", "r")
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
			t.Fatal(err)
		}
		if code != exitUsage || !strings.Contains(message, "file too large") || strings.Contains(message, "hunter2") {
			t.Errorf("room for %d bytes: exit %d, %s", room, code, message)
		}
		if now := files(t); !slices.Equal(now, before) {
			t.Errorf("room for %d bytes: there are %q", room, now)
		}
	}
}
