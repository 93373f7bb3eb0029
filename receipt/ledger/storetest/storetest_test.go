package storetest_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
)

func TestSQLite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func() ledger.Store {
		path := filepath.Join(t.TempDir(), "ledger.db")
		created, err := sqlite.Create(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		if err := created.Close(); err != nil {
			t.Fatal(err)
		}
		return func() ledger.Store {
			l, err := sqlite.Open(context.Background(), path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
			return l
		}
	})
}

func TestMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) func() ledger.Store { return newMemory(correct) })
}
