package ledger

import (
	"context"
	"io"
)

// A Database has all the methods that this project's commands require of a ledger. If it is also a
// [TurnStore] or an [Auditor], the commands use those methods.
type Database interface {
	Replacer
	Pruner
	io.Closer
}

// A Driver opens ledgers in one kind of database by address, such as postgres://host/name. A
// program passes its drivers to the commands; there is no global registry. Errors must not contain
// the password of an address.
type Driver struct {
	Scheme string // such as postgres

	// Open opens an existing ledger, which is read-only unless write is true.
	Open func(ctx context.Context, address string, write bool) (Database, error)

	// Create creates a new ledger. If a ledger already exists, the error is fs.ErrExist.
	Create func(ctx context.Context, address string) (Database, error)
}
