package ledger

import (
	"context"
	"fmt"

	"github.com/receiptkit/receiptkit/receipt"
)

// signTries is the number of attempts that Sign makes if other processes sign the same receipt.
const signTries = 64

// Sign adds a signature to a stored receipt, either by its issuer or by a witness, and returns the
// receipt. The hash of the receipt does not change, because it does not cover signatures. If the
// receipt already has a signature with the key_id of the signer, it is returned unchanged.
//
// The error is or wraps ErrNotFound, an error from Get or from the signer, or ErrNotStored. After
// any other error, the signature may have been stored, and Sign may be called again.
func Sign(ctx context.Context, s Replacer, receiptID string, signer receipt.Signer) (*receipt.Sealed, error) {
	for range signTries {
		sealed, err := Get(ctx, s, receiptID)
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

		// Nothing is locked while the receipt is being signed, so other processes may have signed
		// it by then.
		replaced, err := s.Replace(ctx, sealed, signed)
		if err != nil {
			return nil, err
		}
		if replaced {
			return signed, nil
		}
	}
	return nil, fmt.Errorf("%w: receipt %.200q was changed by other processes %d times while it was signed", ErrNotStored, receiptID, signTries)
}

// signatures returns the key IDs in the signatures of a receipt.
func signatures(sealed *receipt.Sealed) (ids []string) {
	for _, s := range sealed.Document().Root().Member("signatures").Elements() {
		ids = append(ids, s.Member("key_id").String())
	}
	return ids
}

// signedTwice reports whether the last signature was made with the same key as an earlier
// signature.
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
