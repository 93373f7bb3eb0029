package keys

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
)

const envelopeText = "DSSEv1 28 application/vnd.in-toto+json 2 {}"

// TestEnvelopes verifies that keys for Ed25519, ES256, and ML-DSA-65 can sign envelopes, both
// locally and in a key service. The key must determine how a signature is checked, regardless of
// the algorithm stated in the entry.
func TestEnvelopes(t *testing.T) {
	for _, name := range Algorithms() {
		k := testKeys()[name]
		remote, err := NewRemoteSigner("remote", name, &service{public: k.Public().Crypto(), key: k.key}, clock)
		if err != nil {
			t.Fatal(err)
		}
		hashes, err := NewRemoteSigner("remote", name, &hashing{service{public: k.Public().Crypto(), key: k.key}}, clock)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*Signer{NewSigner(k, clock), remote, hashes} {
			sig, err := s.Sign(context.Background(), []byte(envelopeText))
			if name != Ed25519 && name != edDSA && name != es256 && name != mldsa65 {
				if err == nil || !strings.Contains(err.Error(), "envelopes are signed with keys for ed25519, ES256, and ML-DSA-65") {
					t.Errorf("%s: %v, %v", name, sig, err)
				}
				continue
			}
			if err != nil || !sig.SignedAt.IsZero() {
				t.Fatalf("%s: %v, %v", name, sig, err)
			}
			set, e := setOf(t, s.Public()), entryOf(sig)
			wantCode(t, set, envelopeText, e, valid)
			e.Algorithm = nil
			wantCode(t, set, envelopeText, e, valid)
			e.Algorithm = []byte(es384)
			wantCode(t, set, envelopeText, e, receipt.CodeAlgorithmMismatch)
			e.Algorithm = nil
			wantCode(t, set, envelopeText+" ", e, receipt.CodeSignatureInvalid)
			e.KeyID = []byte("another")
			wantCode(t, set, envelopeText, e, receipt.CodeUnknownKey)
		}
	}
}

// TestEnvelopeAlone verifies that a receipt signature is not valid for an envelope, and that an
// envelope signature is not valid for a receipt, even with the same key.
func TestEnvelopeAlone(t *testing.T) {
	for _, name := range []string{Ed25519, edDSA, es256, rs256} {
		k := testKeys()[name]
		set := setOf(t, k.Public())
		s := NewSigner(k, nil)
		ofHash, err := s.Sign(context.Background(), []byte(hashText))
		if err != nil {
			t.Fatal(err)
		}
		_, bad := set.CheckSignature([]byte(envelopeText), entryOf(ofHash))
		if bad == nil {
			t.Errorf("%s: the signature of a hash is one of an envelope", name)
		}
		if name == rs256 {
			continue
		}
		ofEnvelope, err := s.Sign(context.Background(), []byte(envelopeText))
		if err != nil {
			t.Fatal(err)
		}
		if _, bad := set.CheckSignature([]byte(hashText), entryOf(ofEnvelope)); bad == nil {
			t.Errorf("%s: the signature of an envelope is one of a hash", name)
		}
	}

	// A key that cannot sign envelopes cannot verify them either, regardless of what the entry
	// contains.
	k := testKeys()[rs256]
	e := &receipt.Entry{KeyID: []byte(k.public.ID), Signature: []byte("base64:AAAA")}
	wantCode(t, setOf(t, k.Public()), envelopeText, e, receipt.CodeUnsupportedAlgorithm)

	for _, message := range []string{"DSSEv1", "DSSEv2 0  0 ", " " + envelopeText, "dssev1 0  0 "} {
		if _, err := NewSigner(testKeys()[Ed25519], nil).Sign(context.Background(), []byte(message)); err == nil {
			t.Errorf("%q is signed", message)
		}
	}
}

// TestEnvelopeForm verifies that each value has only one accepted encoding, including signatures in
// DER.
func TestEnvelopeForm(t *testing.T) {
	for _, name := range []string{Ed25519, es256} {
		k := testKeys()[name]
		set := setOf(t, k.Public())
		sig, err := NewSigner(k, nil).Sign(context.Background(), []byte(envelopeText))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.TrimPrefix(sig.Signature, nativePrefix)
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		for value, want := range map[string]receipt.Code{
			text:                                    receipt.CodeMalformedSignature,
			"jws:" + text:                           receipt.CodeMalformedSignature,
			nativePrefix:                            receipt.CodeMalformedSignature,
			"":                                      receipt.CodeMalformedSignature,
			nativePrefix + text + "\n":              receipt.CodeMalformedSignature,
			nativePrefix + text + "AA==":            receipt.CodeMalformedSignature,
			nativePrefix + text[:len(text)-1] + "*": receipt.CodeMalformedSignature,
			nativePrefix + "AB==":                   receipt.CodeMalformedSignature,
			nativePrefix + strings.Repeat("AAAA", 65):                                           receipt.CodeMalformedSignature,
			nativePrefix + base64.StdEncoding.EncodeToString(raw[:len(raw)-1]):                  receipt.CodeSignatureInvalid,
			nativePrefix + base64.StdEncoding.EncodeToString(append(bytes.Clone(raw), 0)):       receipt.CodeSignatureInvalid,
			nativePrefix + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0}, 64)):       receipt.CodeSignatureInvalid,
			nativePrefix + base64.StdEncoding.EncodeToString([]byte{0x30, 6, 2, 1, 1, 2, 1, 1}): receipt.CodeSignatureInvalid,
		} {
			if strings.HasSuffix(value, "AA==") && !strings.HasSuffix(text, "=") {
				continue // a string without padding, which can be continued
			}
			wantCode(t, set, envelopeText, &receipt.Entry{KeyID: []byte(k.public.ID), Signature: []byte(value)}, want)
		}
	}
}

// TestEnvelopeOfAnotherKey verifies that an error is returned if a key service returns a signature
// by another key.
func TestEnvelopeOfAnotherKey(t *testing.T) {
	for _, name := range []string{Ed25519, es256} {
		other, err := Generate(rand.Reader, name, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, sign := range []func(context.Context, []byte, crypto.SignerOpts) ([]byte, error){
			func(_ context.Context, data []byte, opts crypto.SignerOpts) ([]byte, error) {
				return other.key.Sign(rand.Reader, data, opts)
			},
			func(context.Context, []byte, crypto.SignerOpts) ([]byte, error) { return []byte("no"), nil },
			func(context.Context, []byte, crypto.SignerOpts) ([]byte, error) { return nil, context.DeadlineExceeded },
		} {
			s, err := NewRemoteSigner("remote", name, &service{public: testKeys()[name].Public().Crypto(), sign: sign}, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			if sig, err := s.Sign(context.Background(), []byte(envelopeText)); err == nil || sig != (receipt.Signature{}) {
				t.Errorf("%s: %v, %v", name, sig, err)
			}
		}
	}
}
