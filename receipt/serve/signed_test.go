package serve_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// receiptDraft returns a draft from the issuer whose keys are in the fixtures.
func receiptDraft(id, task string) *receipt.Draft {
	at := receipt.At(time.Date(2026, 4, 25, 19, 0, 0, 0, time.UTC))
	return &receipt.Draft{
		ReceiptID:   id,
		Subject:     receipt.ResourceRef{Object: "task", ID: task},
		Issuer:      receipt.Issuer{ID: "harness_example_cloud", Kind: "harness"},
		IssuedAt:    at,
		Identifiers: receipt.Identifiers{WorkspaceRef: "w", SessionID: "s", TaskID: task},
		Lifecycle:   receipt.Lifecycle{StartedAt: at, CompletedAt: at, FinalState: receipt.StateSucceeded},
		Trust:       receipt.TrustTiers{StartTier: "act_auto", EndTier: "act_auto"},
		ReplayInput: receipt.ReplayInput{Determinism: "best_effort"},
		ModelRoute:  receipt.ModelRoute{ChosenModel: receipt.Model{Provider: "p", Model: "m"}, RoutePolicyReason: "r"},
		Cost:        receipt.Cost{Currency: "USD"},
	}
}

// signedReceipt seals a draft as the first receipt in its stream, and signs it with a key that the
// tests trust.
func signedReceipt(t testing.TB, d *receipt.Draft) []byte {
	t.Helper()
	return signedBehind(t, d, canon.Digest{})
}

// signedBehind is like signedReceipt, but for a receipt with a predecessor. The zero digest means
// that there is no predecessor.
func signedBehind(t testing.TB, d *receipt.Draft, previous canon.Digest) []byte {
	t.Helper()
	private, err := keys.ParsePrivate(fixture(t, "keys/key_2026_04.private.json"))
	if err != nil {
		t.Fatal(err)
	}
	return sealedBy(t, private, d, previous)
}

// strangeReceipt returns a receipt signed by a key that the tests do not trust.
func strangeReceipt(t testing.TB, d *receipt.Draft) []byte {
	t.Helper()
	private, err := keys.Generate(strings.NewReader(strings.Repeat("x", 32)), keys.Ed25519, "key_of_a_stranger")
	if err != nil {
		t.Fatal(err)
	}
	return sealedBy(t, private, d, canon.Digest{})
}

func sealedBy(t testing.TB, private *keys.PrivateKey, d *receipt.Draft, previous canon.Digest) []byte {
	t.Helper()
	sealed, err := receipt.Seal(d, chain.Head{Hash: previous})
	if err != nil {
		t.Fatal(err)
	}
	if sealed, err = sealed.Sign(context.Background(), keys.NewSigner(private, nil)); err != nil {
		t.Fatal(err)
	}
	return sealed.JSON()
}
