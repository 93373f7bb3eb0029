package attest

import (
	"context"
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/receipt"
)

// Sign puts a statement into an envelope and signs it. Package keys makes signers, whose
// keys are for Ed25519 or ES256.
func Sign(ctx context.Context, s *Statement, signer receipt.Signer) (*Envelope, error) {
	e := &Envelope{Payload: s.Bytes(), payloadType: PayloadType}
	sig, err := signer.Sign(ctx, e.Message())
	if err != nil {
		return nil, fmt.Errorf("attest: %w", err)
	}

	e.Key, e.signature = sig.KeyID, []byte(strings.TrimPrefix(sig.Signature, valuePrefix))
	if n := len(e.Bytes()); n > MaxBytes {
		return nil, invalid("", "the bundle would have %d bytes, at most %d are read", n, MaxBytes)
	}
	return e, nil
}

// valuePrefix is how the value of a signature entry tells that base64 follows.
const valuePrefix = "base64:"
