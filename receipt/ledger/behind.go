package ledger

import (
	"context"
	"database/sql"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
)

// Behind returns the cursor of the place behind a receipt, which List takes with any
// query. The error is ErrNotFound when no receipt has the hash.
func (l *SQLite) Behind(ctx context.Context, hash canon.Digest) (cursor string, err error) {
	var sequence int64
	err = l.read.QueryRowContext(ctx, "SELECT seq FROM receipts WHERE hash = ? ORDER BY seq LIMIT 1", hash[:]).Scan(&sequence)
	if errors.Is(err, sql.ErrNoRows) {
		return "", ErrNotFound
	}
	return cursorBehind(sequence), l.wrap("look for a receipt", err)
}
