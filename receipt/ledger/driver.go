package ledger

import (
	"context"
	"io"
)

// A Database is everything that the commands of this project need of a ledger. If it is also a
// [TurnStore] or an [Auditor], they use that.
type Database interface {
	Replacer
	Pruner
	io.Closer
}

// A Driver opens the ledgers of one kind of database by their addresses, such as
// postgres://host/name. A program passes its drivers to the commands; there is no registry. Errors
// must not contain the password of an address.
type Driver struct {
	Scheme string // such as postgres

	// Open opens a ledger that exists, for reading only unless write is true.
	Open func(ctx context.Context, address string, write bool) (Database, error)

	// Create creates a new ledger. If there already is one, the error is fs.ErrExist.
	Create func(ctx context.Context, address string) (Database, error)
}
