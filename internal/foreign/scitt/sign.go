package scitt

import (
	"context"
	"fmt"
	"time"

	"github.com/fxamacker/cbor/v2"
)

// A Statement is the unsigned content of a signed statement.
type Statement struct {
	Algorithm   string // JOSE name: EdDSA, ES256, ES384, or ES512
	KeyID       string
	Issuer      string
	Subject     string
	IssuedAt    time.Time
	ContentType string
	Payload     []byte
}

// Sign returns a signed statement in deterministic CBOR. It calls sign to sign a Sig_structure (RFC
// 9052 section 4.4).
func Sign(ctx context.Context, s Statement, sign func(context.Context, []byte) ([]byte, error)) ([]byte, error) {
	alg, ok := algorithms()[s.Algorithm]
	if !ok {
		return nil, fmt.Errorf("scitt: unsupported algorithm %q: must be EdDSA, ES256, ES384, ES512, or ML-DSA-65", s.Algorithm)
	}
	mode := encoding()
	header, err := mode.Marshal(map[int64]any{
		labelAlg: alg, labelContentType: s.ContentType, labelKID: []byte(s.KeyID),
		labelClaims: map[int64]any{claimIssuer: s.Issuer, claimSubject: s.Subject, claimIssuedAt: s.IssuedAt.Unix()},
	})
	if err != nil {
		return nil, fmt.Errorf("scitt: %w", err)
	}

	protected, err := mode.Marshal(header)
	if err != nil {
		return nil, fmt.Errorf("scitt: %w", err)
	}
	sig, err := sign(ctx, structure(protected, s.Payload))
	if err != nil {
		return nil, fmt.Errorf("scitt: %w", err)
	}
	return mode.Marshal(cbor.Tag{Number: 18, Content: []any{cbor.RawMessage(protected), map[int64]any{}, s.Payload, sig}})
}
