package ledger

import (
	"context"

	"github.com/receiptkit/receiptkit/canon"
)

// Behind returns the cursor of the place after a receipt, which List takes with any
// query. The error is ErrNotFound when no receipt has the hash.
func (l *SQLite) Behind(ctx context.Context, hash canon.Digest) (cursor string, err error) {
	r, err := l.withHash(ctx, hash)
	if err != nil {
		return "", err
	}
	return cursorBehind(r.sequence), nil
}
