package postgres_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/receiptkit/receiptkit/postgres"
	"github.com/receiptkit/receiptkit/postgres/internal/pgserver"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
)

var databases atomic.Int64

// create creates a ledger in a separate database and returns its address.
func create(t *testing.T, server *pgserver.Server) (address string) {
	t.Helper()
	address = server.Database(t, fmt.Sprint("ledger_", databases.Add(1)))
	l, err := postgres.Create(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return address
}

func open(t *testing.T, address string) *postgres.Ledger {
	t.Helper()
	l, err := postgres.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestStore(t *testing.T) {
	server := pgserver.Start(t)
	storetest.Run(t, func(t *testing.T) func() ledger.Store {
		address := create(t, server)
		return func() ledger.Store { return open(t, address) }
	})
}
