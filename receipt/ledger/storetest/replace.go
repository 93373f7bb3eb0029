package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A scribe adds a signature that contains only the name of a key. Stores do not verify signatures.
type scribe string

func (s scribe) Sign(context.Context, []byte) (receipt.Signature, error) {
	return receipt.Signature{KeyID: string(s), Algorithm: "ed25519", Signature: "base64:"}, nil
}

// replace verifies that signatures can be added to stored receipts, and that a signature added by
// another process is never lost.
func replace(t *testing.T, handle func() ledger.Store) {
	store, other := handle(), handle()
	here, ok := store.(ledger.Replacer)
	if !ok {
		t.Skip("the store does not replace receipts")
	}
	there := other.(ledger.Replacer)
	run := sealRun(t, chain.Head{}, "w", "receipt_1", "receipt_2")
	mustAppend(t, store, chain.Head{}, run...)
	sign := func(r *receipt.Sealed, key scribe) *receipt.Sealed {
		t.Helper()
		signed, err := r.Sign(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}

	first := sign(run[0], "key_1")
	if replaced, err := here.Replace(t.Context(), run[0], first); err != nil || !replaced {
		t.Fatalf("Replace returns %v, %v, expected true", replaced, err)
	}
	wantStored(t, other, first)
	wantStored(t, other, run[1])

	// The other handle has signed the receipt without the first signature.
	if replaced, err := there.Replace(t.Context(), run[0], sign(run[0], "key_2")); err != nil || replaced {
		t.Errorf("the stored bytes have changed: Replace returns %v, %v, expected false", replaced, err)
	}
	wantStored(t, store, first)
	absent := seal(t, Draft("receipt_3", "v"), chain.Head{})
	if replaced, err := there.Replace(t.Context(), absent, sign(absent, "key_2")); err != nil || replaced {
		t.Errorf("the receipt is not stored: Replace returns %v, %v, expected false", replaced, err)
	}
	wantAbsent(t, store, "receipt_3")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if replaced, err := here.Replace(ended, first, sign(first, "key_2")); !errors.Is(err, context.Canceled) || replaced {
		t.Errorf("with a canceled context, Replace returns %v, %v, expected context.Canceled", replaced, err)
	}
	wantStored(t, other, first)

	second, err := ledger.Sign(t.Context(), there, "receipt_1", scribe("key_2"))
	if err != nil {
		t.Fatal(err)
	}
	wantStored(t, store, second)
	wantHead(t, store, stream("w"), run[1], 2)
}
