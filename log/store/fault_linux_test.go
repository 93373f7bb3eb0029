package store_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/strace"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/log/store"
)

// workVariable is the environment variable that contains the directory of the log to which TestWork
// adds hashes.
const workVariable = "LOG_WORK"

// worked is the number of hashes that TestWork adds. The log already contains the first two hashes.
const worked = 3

// TestWork is the program that TestEachCallFails runs. It adds hashes, and prints the hashes that
// were acknowledged.
func TestWork(t *testing.T) {
	dir := os.Getenv(workVariable)
	if dir == "" {
		t.Skip("it is run by TestEachCallFails")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	l, err := store.Open(ctx, newConfig(t, dir, "k"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 2; i < 2+worked; i++ {
		if _, err := l.Add(ctx, hashOf(i)); err != nil {
			t.Fatal(err)
		}
		fmt.Println("acknowledged", i)
	}
	if err := l.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestEachCallFails injects a fault into the nth system call of each kind, in each thread of a
// process that adds hashes to a log. The call either fails or ends the process. Afterward, the log
// must open, contain all acknowledged hashes once, and accept the same hashes again. With
// CI=all, every call is tested.
func TestEachCallFails(t *testing.T) {
	if !testsize.Full() {
		t.Skip("it starts many processes")
	}
	strace.Path(t)
	base := t.TempDir()
	l := open(t, newConfig(t, base, "k"))
	addAll(t, l, policyOf(newConfig(t, base, "k")), []canon.Digest{hashOf(0), hashOf(1)})
	closeLog(t, l)

	step, injected := testsize.Of(9, 9, 1), 0
	for _, fault := range []string{
		"openat:error=EIO", "write:error=EIO", "write:error=ENOSPC", "fsync:error=EIO", "linkat:error=EIO", "renameat:error=EIO", "mkdirat:error=EIO", "close:error=EIO",
		"write:signal=KILL", "fsync:signal=KILL", "linkat:signal=KILL", "renameat:signal=KILL", "openat:signal=KILL",
	} {
		for n := 1 + injected%step; withFault(t, base, fault, n); n += step {
			injected++
		}
	}
	if t.Logf("%d faults", injected); injected < 10 {
		t.Errorf("only %d faults", injected)
	}
}

// withFault runs TestWork on a copy of a log with a fault at call n, and reports whether that call
// occurred.
func withFault(t *testing.T, base, fault string, n int) bool {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestWork$")
	cmd.Env = append(os.Environ(), workVariable+"="+dir, "GOMAXPROCS=1")
	out, injected, _ := strace.Inject(t, cmd, fault, n) // the program may exit with an error
	if !injected {
		return false
	}

	what := fmt.Sprintf("%s %d", fault, n)
	c := newConfig(t, dir, "k")
	l, err := store.Open(t.Context(), c)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return true
	}
	note, err := l.Checkpoint()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	before := indexes(t, c, note)
	hashes := []canon.Digest{hashOf(0), hashOf(1)}
	for i := 2; i < 2+worked; i++ {
		if strings.Contains(string(out), fmt.Sprintf("acknowledged %d\n", i)) && before[hashOf(i)] != 1 {
			t.Errorf("%s: hash %d was acknowledged, and is %d times in the log", what, i, before[hashOf(i)])
		}
		hashes = append(hashes, hashOf(i))
	}

	addAll(t, l, policyOf(c), hashes)
	if note, err = l.Checkpoint(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	after := indexes(t, c, note)
	if len(after) != len(hashes) || slices.ContainsFunc(hashes, func(h canon.Digest) bool { return after[h] != 1 }) {
		t.Errorf("%s: the log has %d hashes, expected each of %d once", what, len(after), len(hashes))
	}
	closeLog(t, l)
	return true
}
