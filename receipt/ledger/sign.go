package ledger

import (
	"context"
	"database/sql"
	"errors"

	"github.com/receiptkit/receiptkit/receipt"
)

// signTries is how often Sign begins anew, when others sign the receipt as well.
const signTries = 64

// replaceReceipt stores a receipt with one signature more, if it is what it was.
func replaceReceipt(ctx context.Context, l *database, was, signed *receipt.Sealed) (replaced bool, err error) {
	err = l.store(ctx, "store a signature", nil, func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, "UPDATE receipts SET json = ? WHERE receipt_id = ? AND json = ?", signed.JSON(), was.ID(), was.JSON())
		if err != nil {
			return err
		}

		n, err := r.RowsAffected()
		if err == nil && n == 0 {
			err = errChanged
		}
		return err
	})

	// The error took the transaction back: nothing was written over what others stored.
	if errors.Is(err, errChanged) {
		return false, nil
	}
	return err == nil, err
}

var errChanged = errors.New("the receipt has changed")

// signatures are the key ids of a receipt's signatures.
func signatures(sealed *receipt.Sealed) (ids []string) {
	for _, s := range sealed.Document().Root().Member("signatures").Elements() {
		ids = append(ids, s.Member("key_id").String())
	}
	return ids
}

// signedTwice reports whether the last signature is of a key that has one before.
func signedTwice(sealed *receipt.Sealed) bool {
	ids := signatures(sealed)
	last := len(ids) - 1
	for i, id := range ids {
		if i < last && id == ids[last] {
			return true
		}
	}
	return false
}
