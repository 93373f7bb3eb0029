package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
)

func signer(t testing.TB) receipt.Signer {
	t.Helper()
	data, err := fixtures.Read("keys/key_2026_04.private.json")
	if err != nil {
		t.Fatal(err)
	}
	key, err := keys.ParsePrivate(data)
	if err != nil {
		t.Fatal(err)
	}
	return keys.NewSigner(key, func() time.Time { return time.Date(2026, 4, 25, 20, 0, 0, 0, time.UTC) })
}

// isUnknown reports whether err is an IssueError that leaves the outcome unknown.
func isUnknown(err error) bool {
	failed, ok := errors.AsType[*ledger.IssueError](err)
	return ok && failed.Stored == ledger.StoredUnknown
}

// draft returns a small draft from an issuer whose key is among the fixtures.
func draft(id, workspace string) *receipt.Draft {
	d := storetest.Draft(id, workspace)
	d.Issuer.ID = "harness_example_cloud"
	return d
}

func create(t testing.TB) *sqlite.Ledger {
	t.Helper()
	l, err := sqlite.Create(context.Background(), filepath.Join(t.TempDir(), "a #?% ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func TestIssue(t *testing.T) {
	ctx := context.Background()
	l := create(t)
	issuer := &ledger.Issuer{Store: l, Signer: signer(t)}
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for n := range 50 {
				if _, err := issuer.Issue(ctx, draft(fmt.Sprintf("receipt_%d_%d", g, n), "w")); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	var last canon.Digest
	n := 0
	for e, err := range l.Walk(ctx, ledger.Query{}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		s, err := ledger.Get(ctx, l, e.ID)
		if err != nil {
			t.Fatal(err)
		}
		last = s.Hash()
	}
	streams, err := ledger.Heads(ctx, l)
	if err != nil || n != 400 || len(streams) != 1 || streams[0].Head.Hash != last || streams[0].Head.Count != 400 {
		t.Errorf("%d receipts, %v, %v", n, streams, err)
	}
	again, err := issuer.Issue(ctx, draft("receipt_3_7", "w"))
	if err != nil || again.ID() != "receipt_3_7" {
		t.Errorf("again: %v, %v", again, err)
	}
	other := draft("receipt_3_7", "w")
	other.Metadata = receipt.Object{"a": 1}
	if _, err := issuer.Issue(ctx, other); !errors.Is(err, ledger.ErrDuplicateID) {
		t.Errorf("another content: %v", err)
	}
}
