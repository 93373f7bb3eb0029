package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/receipt"
)

// Sign adds a signature to a stored receipt, as its issuer or as a witness, and
// returns it: its hash stays, signatures lie outside of it. A receipt that has a
// signature with the signer's key_id stays as it is.
//
// The error is or wraps ErrNotFound, what Get or the signer said, ErrNotStored, or
// what went wrong in storing: then the signature may be stored, and Sign may be
// called again.
func (l *SQLite) Sign(ctx context.Context, receiptID string, signer receipt.Signer) (*receipt.Sealed, error) {
	for range signTries {
		sealed, err := l.Get(ctx, receiptID)
		if err != nil {
			return nil, err
		}

		signed, err := sealed.Sign(ctx, signer)
		if err != nil {
			return nil, err
		}
		if signedTwice(signed) {
			return sealed, nil
		}

		// Nothing was locked while it was signed, so others may have signed it meanwhile.
		replaced, err := l.replace(ctx, sealed, signed)
		if err != nil {
			return nil, err
		}
		if replaced {
			return signed, nil
		}
	}
	return nil, fmt.Errorf("%w: receipt %.200q was changed by others %d times while it was signed", ErrNotStored, receiptID, signTries)
}

// signTries is how often Sign begins anew, when others sign the receipt as well.
const signTries = 64

// replace stores a receipt with one signature more, if it is what it was.
func (l *SQLite) replace(ctx context.Context, was, signed *receipt.Sealed) (replaced bool, err error) {
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
