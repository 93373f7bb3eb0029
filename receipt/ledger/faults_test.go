package ledger_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// TestFaults lets every write, sync, truncation, opening, removal and closing of
// the ledger's files fail once, by EIO, by a full disk and by the death of the
// process, while two receipts are issued. Whatever fails: the ledger stays sound,
// what was acknowledged is in it, and issuing the same drafts again ends well.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts some hundred processes")
	}
	strace := tracer(t)
	base, injected := filled(t, 3), 0
	for _, fault := range []string{"error=EIO", "error=ENOSPC", "signal=KILL"} {
		for _, call := range []string{"pwrite64", "fsync", "ftruncate", "open", "unlink", "close"} {
			if fault == "error=ENOSPC" && call != "pwrite64" && call != "ftruncate" {
				continue
			}
			for n := 1; injects(t, strace, base, call, fault, n); n++ {
				injected++
			}
		}
	}
	if t.Logf("%d faults", injected); injected < 150 {
		t.Errorf("%d faults were injected, expected more", injected)
	}
}

// tracer returns the path of strace, where it may trace.
func tracer(t *testing.T) string {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if out, err := exec.Command(strace, "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace here: %v: %s", err, out)
	}
	return strace
}

// injects makes the nth call fail, and reports whether there was one.
func injects(t *testing.T, strace, base, call, fault string, n int) bool {
	t.Helper()
	name := fmt.Sprintf("%s %s %d", fault, call, n)
	dir := t.TempDir()
	path, log := filepath.Join(dir, "ledger.db"), filepath.Join(dir, "log")
	data, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(strace, "-f", "-qq", "-o", log, "-P", path, "-P", path+"-wal", "-P", path+"-shm",
		"-e", "signal=none", "-e", "trace="+call, "-e", fmt.Sprintf("inject=%s:%s:when=%d", call, fault, n), os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("LEDGER_WORKER=%s\tf\t2\t1", path))
	out, failed := cmd.Output()
	traced, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if fault == "signal=KILL" && failed == nil || fault != "signal=KILL" && !strings.Contains(string(traced), "(INJECTED)") {
		return false
	}
	issuer := reopen(t, name, path)
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		id, hash, told := strings.Cut(line, " ")
		if !told {
			continue
		}
		if r, err := issuer.Store.Get(context.Background(), id); err != nil || r.Hash().String() != hash {
			t.Errorf("%s: %s was acknowledged and is not in the ledger: %v", name, id, err)
		}
	}
	for i := range 2 {
		if _, err := issuer.Issue(context.Background(), draft(fmt.Sprintf("f_%04d", i), "w")); err != nil {
			t.Errorf("%s: again: %v", name, err)
		}
	}
	c, list := faults(t, path, verifier(t, receipt.Policy{}))
	if len(list) != 0 || c.Verified != 8 {
		t.Errorf("%s: %d receipts, %q", name, c.Verified, list)
	}
	return true
}

// reopen opens a ledger after a fault. It must be sound before it is repaired by
// being used.
func reopen(t *testing.T, name, path string) *ledger.Issuer {
	t.Helper()
	l, err := ledger.Open(context.Background(), path)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	t.Cleanup(func() { l.Close() })
	if _, err := l.Check(context.Background(), verifier(t, receipt.Policy{}), func(f ledger.Fault) {
		t.Errorf("%s: %+v", name, f)
	}); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return &ledger.Issuer{Store: l, Signer: signer(t), KeepSecrets: true}
}
