package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/strace"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

// TestFaults verifies that a ledger survives a single failure of any write, sync, truncation, open,
// removal, or close of its files. Meanwhile, two receipts are issued and three are pruned. The
// failure is EIO, a full disk, or the end of the process. The ledger must have no faults and must
// contain all acknowledged receipts. Either all three receipts or none of them must be pruned, and
// a second attempt must succeed.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts some hundred processes")
	}
	tracer := strace.Path(t)
	step := testsize.Of(24, 5, 1) // tests one call in this many
	base, possible, injected := filled(t, 3), 0, 0
	calls := []string{"pwrite64", "fsync", "ftruncate", "open", "unlink", "close"}
	_, _, log := withFault(t, tracer, base, strings.Join(calls, ","), "retval=0:when=65535") // that is, never
	for _, call := range calls {
		count := strings.Count(log, call+"(")
		for _, fault := range []string{"error=EIO", "error=ENOSPC", "signal=KILL"} {
			if fault == "error=ENOSPC" && call != "pwrite64" && call != "ftruncate" {
				continue
			}
			for n := 1; n <= count; n++ {
				if possible++; possible%step == 0 {
					injects(t, tracer, base, call, fault, n)
					injected++
				}
			}
		}
	}
	if t.Logf("%d faults", injected); injected < 150/step {
		t.Errorf("%d faults were injected, expected more", injected)
	}
}

// faultWorker issues two receipts, prunes three receipts, and prints the receipts that were
// acknowledged. It accesses the ledger's files from a single thread, because strace counts the
// calls of each thread separately.
func faultWorker(path string) error {
	ctx := context.Background()
	thread := &thread{calls: make(chan func())}
	go thread.run()
	var l *sqlite.Ledger
	err := thread.do(func() (err error) {
		l, err = sqlite.Open(ctx, path)
		return err
	})
	if err != nil {
		return err
	}
	thread.Store = l
	issuer := &ledger.Issuer{Store: thread, Signer: signer(panics{}), KeepSecrets: true}
	for n := range 2 {
		s, err := issuer.Issue(ctx, draft(fmt.Sprintf("f_%04d", n), "w"))
		if err != nil {
			return err
		}
		fmt.Println(s.ID(), s.Hash())
	}
	err = thread.do(func() error {
		prune(panics{}, l, faultPruned)
		fmt.Println("pruned")
		return nil
	})
	if err != nil {
		return err
	}
	return thread.do(l.Close)
}

// faultPruned is the number of receipts that are pruned.
const faultPruned = 3

// A thread is a store whose calls all run on one operating system thread.
type thread struct {
	ledger.Store
	calls chan func()
}

func (t *thread) run() {
	runtime.LockOSThread()
	for call := range t.calls {
		call()
	}
}

func (t *thread) do(call func() error) error {
	done := make(chan error)
	t.calls <- func() { done <- call() }
	return <-done
}

func (t *thread) Head(ctx context.Context, s chain.Stream) (head chain.Head, err error) {
	err = t.do(func() (err error) { head, err = t.Store.Head(ctx, s); return err })
	return head, err
}

func (t *thread) Find(ctx context.Context, k ledger.Key) (r *ledger.Row, err error) {
	err = t.do(func() (err error) { r, err = t.Store.Find(ctx, k); return err })
	return r, err
}

func (t *thread) Append(ctx context.Context, runs ...ledger.Run) error {
	return t.do(func() error { return t.Store.Append(ctx, runs...) })
}

// fewerStops returns strace flags that avoid stops at untraced calls, or nil if strace does not
// support these flags.
var fewerStops = sync.OnceValue(func() []string {
	if exec.Command("strace", "-f", "--seccomp-bpf", "-e", "trace=fsync", "-o", os.DevNull, "true").Run() != nil {
		return nil
	}
	return []string{"--seccomp-bpf"}
})

// withFault runs faultWorker on a copy of a ledger and injects a fault into the given calls. It
// returns the copy, the output of the worker, and the output of strace.
func withFault(t *testing.T, tracer, base, call, fault string) (path, said, traced string) {
	t.Helper()
	dir := t.TempDir()
	path, log := filepath.Join(dir, "ledger.db"), filepath.Join(dir, "log")
	data, err := os.ReadFile(base)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var how []string
	if !strings.HasPrefix(fault, "signal=") { // with these flags, strace would not send the signal
		how = fewerStops()
	}
	cmd := exec.Command(tracer, append(how, "-f", "-qq", "-o", log, "-P", path, "-P", path+"-wal", "-P", path+"-shm",
		"-e", "signal=none", "-e", "trace="+call, "-e", "inject="+call+":"+fault, os.Args[0])...)
	cmd.Env = append(os.Environ(), "LEDGER_FAULT="+path)
	out, _ := cmd.Output() // the worker is expected to fail
	trace, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return path, string(out), string(trace)
}

// injects makes the nth call fail, and reports whether that call occurred.
func injects(t *testing.T, tracer, base, call, fault string, n int) {
	t.Helper()
	name := fmt.Sprintf("%s %s %d", fault, call, n)
	path, said, log := withFault(t, tracer, base, call, fmt.Sprintf("%s:when=%d", fault, n))
	if want := map[bool]string{true: "= ?", false: "(INJECTED)"}[fault == "signal=KILL"]; !strings.Contains(log, want) {
		t.Errorf("%s: nothing failed: %s", name, log)
	}
	issuer := reopen(t, name, path)
	for _, line := range strings.Split(strings.TrimSpace(said), "\n") {
		id, hash, told := strings.Cut(line, " ")
		if !told {
			continue
		}
		if r, err := ledger.Get(context.Background(), issuer.Store, id); err != nil || r.Hash().String() != hash {
			t.Errorf("%s: %s was acknowledged and is not in the ledger: %v", name, id, err)
		}
	}
	for i := range 2 {
		if _, err := issuer.Issue(context.Background(), draft(fmt.Sprintf("f_%04d", i), "w")); err != nil {
			t.Errorf("%s: again: %v", name, err)
		}
	}
	c, list := faults(t, path, verifier(t, receipt.Policy{}))
	acknowledged := strings.Contains(said, "pruned")
	if len(list) != 0 || c.Verified+c.Pruned != 8 || c.Pruned != faultPruned && (acknowledged || c.Pruned != 0) {
		t.Errorf("%s: %d receipts, %d pruned, %q", name, c.Verified, c.Pruned, list)
	}
	prune(t, issuer.Store.(*sqlite.Ledger), faultPruned)
	if c, list := faults(t, path, verifier(t, receipt.Policy{})); len(list) != 0 || c.Verified != 8-faultPruned || c.Pruned != faultPruned {
		t.Errorf("%s: again: %d receipts, %d pruned, %q", name, c.Verified, c.Pruned, list)
	}
}

// reopen opens a ledger after a fault. The ledger must have no faults even before it is used and
// thereby repaired.
func reopen(t *testing.T, name, path string) *ledger.Issuer {
	t.Helper()
	l, err := sqlite.Open(context.Background(), path)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	t.Cleanup(func() { l.Close() })
	if _, err := ledger.Check(context.Background(), l, verifier(t, receipt.Policy{}), func(f ledger.Fault) {
		t.Errorf("%s: %+v", name, f)
	}, nil); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return &ledger.Issuer{Store: l, Signer: signer(t), KeepSecrets: true}
}
