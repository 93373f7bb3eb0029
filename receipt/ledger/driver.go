package ledger

import (
	"context"
	"io"
)

// A Database has all methods that the commands of this project need. If it is also a [TurnStore] or
// an [Auditor], the commands also use the methods of these interfaces.
type Database interface {
	Replacer
	Pruner
	io.Closer
}

// A Driver opens ledgers in one kind of database. Each ledger has an address, such as
// postgres://host/name. A program passes drivers to the commands, because there is no global
// registry. Errors must not contain a password from an address.
type Driver struct {
	Scheme string // such as postgres

	// Open opens an existing ledger. If write is false, the ledger is read-only.
	Open func(ctx context.Context, address string, write bool) (Database, error)

	// Create creates a new ledger. If the ledger already exists, the error is fs.ErrExist.
	Create func(ctx context.Context, address string) (Database, error)
}
