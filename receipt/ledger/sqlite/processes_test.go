package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/scratch"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

// TestMain runs the test binary as a helper program, such as one that issues receipts, if an
// environment variable requests it. LEDGER_WORKER consists of a file, a prefix, a count, and a
// number of goroutines, separated by tabs, and ends with "stays" if the program must not exit.
// LEDGER_POWER and LEDGER_FAULT contain the path of a file. LEDGER_RATE consists of a file, a
// prefix, a number of goroutines, and a number of seconds, separated by tabs.
func TestMain(m *testing.M) {
	testsize.Spare(400) // the heaps are small and can be collected less often
	for name, work := range map[string]func(string) error{"LEDGER_WORKER": worker, "LEDGER_POWER": powerWorker, "LEDGER_FAULT": faultWorker, "LEDGER_RATE": rateWorker, "LEDGER_AUDITOR": auditor, "LEDGER_PRUNER": pruner} {
		if task := os.Getenv(name); task != "" {
			if err := work(task); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	scratch.InMemory()
	os.Exit(m.Run())
}

// worker issues receipts and prints the ID, the hash, and the time of each acknowledged receipt.
func worker(task string) error {
	f := strings.Split(task, "\t")
	count, err := strconv.Atoi(f[2])
	if err != nil {
		return err
	}
	goroutines, err := strconv.Atoi(f[3])
	if err != nil {
		return err
	}
	ctx := context.Background()
	l, err := sqlite.Open(ctx, f[0])
	if err != nil {
		return err
	}
	issuer := &ledger.Issuer{Store: l, Signer: signer(panics{}), KeepSecrets: true}
	errs := make([]error, goroutines)
	var group sync.WaitGroup
	for g := range goroutines {
		group.Go(func() {
			for n := g; n < count; n += goroutines {
				s, err := issuer.Issue(ctx, draft(fmt.Sprintf("%s_%04d", f[1], n), "w"))
				if err != nil {
					errs[g] = err
					return
				}
				fmt.Println(s.ID(), s.Hash(), time.Now().UnixNano()) // writes each line with one call
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	if len(f) > 4 {
		time.Sleep(time.Minute) // waits until it is killed
	}
	return l.Close()
}

// panics is a testing.TB that can be used outside tests.
type panics struct{ testing.TB }

func (panics) Helper()           {}
func (panics) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

func start(t *testing.T, path, prefix string, count, goroutines int) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("LEDGER_WORKER=%s\t%s\t%d\t%d", path, prefix, count, goroutines))
	out := new(strings.Builder)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// TestProcesses verifies that no receipt is lost and the chain does not fork if eight processes
// issue into one stream at the same time. Some of the processes issue from several goroutines.
func TestProcesses(t *testing.T) {
	const processes = 8
	each := testsize.Of(25, 250, 1000)
	path := filepath.Join(t.TempDir(), "ledger.db")
	l, err := sqlite.Create(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	var running []*exec.Cmd
	var outs []*strings.Builder
	for p := range processes {
		cmd, out := start(t, path, fmt.Sprintf("p%d", p), each, 1+3*(p%2)) // half of the processes have a single goroutine
		running, outs = append(running, cmd), append(outs, out)
	}
	told := map[string]bool{}
	for i, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d: %v", i, err)
		}
		for _, line := range strings.Split(strings.TrimSpace(outs[i].String()), "\n") {
			receipt, _ := cutTime(line)
			told[receipt] = true
		}
	}
	for e, err := range l.Walk(context.Background(), ledger.Query{}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		delete(told, fmt.Sprint(e.ID, " ", e.Hash))
	}
	if len(told) > 0 {
		t.Errorf("%d receipts that were acknowledged are not in the ledger", len(told))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	c, list := faults(t, path, verifier(t, receipt.Policy{}))
	if len(list) > 0 || c.Verified != processes*each || len(c.Streams) != 1 || c.Streams[0].Head.Count != uint64(processes*each) {
		t.Errorf("%+v, %q", c, list)
	}
}
