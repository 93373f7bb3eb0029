package postgres

import (
	"context"

	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// Driver returns the driver for addresses such as postgres://user@host/database, which programs
// need to open ledgers by address.
func Driver() ledger.Driver {
	return ledger.Driver{
		Scheme: "postgres",
		Open: func(ctx context.Context, address string, write bool) (ledger.Database, error) {
			return database(open(ctx, address, !write))
		},
		Create: func(ctx context.Context, address string) (ledger.Database, error) {
			return database(Create(ctx, address))
		},
	}
}

// database returns nil as an interface value if there is no ledger.
func database(l *Ledger, err error) (ledger.Database, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}
