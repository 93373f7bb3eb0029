package journal_test

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// limited limits the size of the files that this process writes. The returned function lift removes
// the limit.
func limited(t *testing.T, most int64) (lift func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ) // A write that exceeds the limit fails, as it would on a full disk.
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(most), Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoRoom verifies that a commit that does not fit on the disk leaves nothing in the journal,
// and that the journal accepts commits when space is available again.
func TestNoRoom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	j, _ := open(t, path)
	long := happened("task.submitted", "a") // longer than any file that "go test" writes at the same time
	long.Payload = []byte(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`)
	add(t, j, long)
	for _, room := range []int64{0, 1, 100} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		lift := limited(t, info.Size()+room)
		err = j.Append(&journal.Commit{At: noon(), Events: []journal.Event{happened("task.started", "a")}})
		full := j.Ready()
		lift()
		if full == nil {
			t.Errorf("room for %d bytes: ready", room)
		}
		if err := j.Ready(); err != nil {
			t.Errorf("when there is room again: %v", err)
		}
		if !errors.Is(err, journal.ErrNotWritten) || codeOf(err) != protocol.CodeUnavailable {
			t.Errorf("room for %d bytes: %v", room, err)
		}
		if now, err := os.Stat(path); err != nil || now.Size() != info.Size() {
			t.Errorf("room for %d bytes: %v, %d bytes of %d", room, err, now.Size(), info.Size())
		}
		add(t, j, happened("task.started", "a"))
	}
	j.Close()
	if _, applied := open(t, path); len(*applied) != 4 {
		t.Errorf("%d commits", len(*applied))
	}
}
