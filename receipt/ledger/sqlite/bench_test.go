package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

// BenchmarkSync measures the time that the disk needs to make 4 KiB durable, which is the minimum
// time for issuing one receipt.
func BenchmarkSync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "file"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, 4096)
	for b.Loop() {
		if _, err := f.Write(page); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIssue issues receipts sequentially. Each receipt is durable before the next one is
// issued.
func BenchmarkIssue(b *testing.B) {
	issuer := &ledger.Issuer{Store: create(b), Signer: signer(b)}
	n := 0
	for b.Loop() {
		n++
		if _, err := issuer.Issue(context.Background(), draft(fmt.Sprint("receipt_", n), "w")); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIssueTogether issues receipts from 128 goroutines into one stream, with group commits.
func BenchmarkIssueTogether(b *testing.B) {
	issuer := &ledger.Issuer{Store: create(b), Signer: signer(b)}
	var n atomic.Int64
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := issuer.Issue(context.Background(), draft(fmt.Sprint("receipt_", n.Add(1)), "w")); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "receipts/s")
}

// BenchmarkSize measures the operations issue, list, and get in ledgers with 10³ and 10⁵ receipts,
// and with 10⁶ receipts if LEDGER_MILLION is set.
func BenchmarkSize(b *testing.B) {
	sizes := []int{1_000, 100_000}
	if os.Getenv("LEDGER_MILLION") != "" {
		sizes = append(sizes, 1_000_000)
	}
	for _, size := range sizes {
		var l *sqlite.Ledger
		dir := b.TempDir() // shared by the sub-benchmarks below
		grown := func(b *testing.B) *sqlite.Ledger {
			if l == nil {
				l = grow(b, dir, size)
			}
			return l
		}
		ctx := context.Background()
		b.Run(fmt.Sprint("get/", size), func(b *testing.B) {
			l := grown(b)
			for i := 0; b.Loop(); i++ {
				if _, err := ledger.Get(ctx, l, fmt.Sprint("stock_", i*7919%size)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprint("list/", size), func(b *testing.B) {
			l := grown(b)
			for i := 0; b.Loop(); i++ {
				if page, _, err := ledger.List(ctx, l, ledger.Query{Task: fmt.Sprint("task_stock_", i*7919%size)}, "", 50); err != nil || len(page) != 1 {
					b.Fatal(len(page), err)
				}
			}
		})
		b.Run(fmt.Sprint("issue/", size), func(b *testing.B) {
			issuer := &ledger.Issuer{Store: grown(b), Signer: signer(b)}
			for i := 0; b.Loop(); i++ {
				if _, err := issuer.Issue(ctx, draft(fmt.Sprintf("new_%d_%d", b.N, i), "w")); err != nil {
					b.Fatal(err)
				}
			}
		})
		if l != nil {
			l.Close()
		}
	}
}

// grow returns a ledger with the given number of receipts.
func grow(b testing.TB, dir string, size int) *sqlite.Ledger {
	b.Helper()
	l, err := sqlite.Create(context.Background(), filepath.Join(dir, "ledger.db"))
	if err != nil {
		b.Fatal(err)
	}
	s, head := chain.Stream{Issuer: "harness_example_cloud", Workspace: "stock"}, chain.Head{}
	for n := 0; n < size; {
		var run []*receipt.Sealed
		before := head
		for ; n < size && len(run) < 1000; n++ {
			r, err := receipt.Seal(draft(fmt.Sprint("stock_", n), "stock"), head)
			if err != nil {
				b.Fatal(err)
			}
			run, head = append(run, r), r.Head()
		}
		if err := l.Append(context.Background(), ledger.Run{Stream: s, Previous: before, Receipts: run}); err != nil {
			b.Fatal(err)
		}
	}
	return l
}
