package sqlite_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

// TestReaders verifies that readers always see a prefix of the chain without gaps while two
// processes issue receipts. A hundred readers repeatedly verify all receipts. The prefix must not
// be shorter than in the previous read, or shorter than the chain was when the read started.
func TestReaders(t *testing.T) {
	readers, each := 100, 150
	if !testsize.Full() {
		readers, each = 10, 30
	}
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "ledger.db")
	l, err := sqlite.Create(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var writers []*exec.Cmd
	for p := range 2 {
		cmd, _ := start(t, path, fmt.Sprintf("p%d", p), each, 1+2*p)
		writers = append(writers, cmd)
	}
	var group sync.WaitGroup
	var over atomic.Bool
	var grew atomic.Int64
	v := verifier(t, receipt.Policy{})
	for range readers {
		group.Go(func() {
			for last, looks := 0, 0; ; looks++ {
				final := over.Load()
				n, err := prefix(ctx, l, v, last)
				if err != nil {
					t.Error(err)
					return
				}
				if looks > 0 && n > last {
					grew.Add(1)
				}
				if last = n; final {
					if n != 2*each {
						t.Errorf("%d receipts at the end, expected %d", n, 2*each)
					}
					return
				}
			}
		})
	}
	for _, cmd := range writers {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	over.Store(true)
	group.Wait()
	if grew.Load() == 0 {
		t.Error("no reader has seen the ledger grow")
	}
}

// prefix reads a ledger with a single stream and returns the number of receipts in it.
func prefix(ctx context.Context, l *sqlite.Ledger, v *receipt.Verifier, least int) (n int, err error) {
	before, err := ledger.Heads(ctx, l)
	if err != nil {
		return 0, err
	}
	if len(before) > 0 {
		least = max(least, int(before[0].Head.Count))
	}
	var last canon.Digest
	for e, err := range l.Walk(ctx, ledger.Query{}, 0) {
		if err != nil {
			return n, err
		}
		n++
		r, err := v.Open(e.JSON)
		if err != nil {
			return n, err
		}
		link := chain.Link{First: r.Chain.PreviousReceiptHash.Null, Previous: r.Chain.PreviousReceiptHash.Digest, Hash: r.Chain.ReceiptHash}
		if e.Position != uint64(n) || link.Hash != e.Hash || link.First != (n == 1) || !link.First && link.Previous != last {
			return n, fmt.Errorf("receipt %d has the position %d and follows %v, expected %v", n, e.Position, link.Previous, last)
		}
		last = e.Hash
		if n == least && len(before) > 0 && uint64(n) == before[0].Head.Count && last != before[0].Head.Hash {
			return n, fmt.Errorf("the head was %v with the hash %v", before[0].Head, last)
		}
	}
	if n < least {
		return n, fmt.Errorf("%d receipts, there were %d", n, least)
	}
	if n > 0 {
		after, err := ledger.Heads(ctx, l)
		if err != nil || after[0].Head.Count < uint64(n) {
			return n, fmt.Errorf("%d receipts and then the head %v, %v", n, after, err)
		}
	}
	return n, nil
}
