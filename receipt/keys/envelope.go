package keys

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"fmt"
	"math/big"

	"filippo.io/mldsa"

	"github.com/receiptkit/receiptkit/receipt"
)

// envelopeMark is the prefix of the signed message of a DSSE envelope (DSSE v1, section "PAE"). No
// other signed message has this prefix: a receipt hash begins with "sha256:", a JWS with "eyJ", and
// the message of a cosignature with "cosignature/v1". A checkpoint contains line feeds at the
// positions where the message of an envelope contains lengths. A signature for one kind of message
// is therefore never valid for another kind.
const envelopeMark = "DSSEv1 "

// These are the limits on the length of an envelope's signature in base64. The longest possible
// signature is an ML-DSA-65 signature of 3,309 bytes. ES256 signatures in DER and Ed25519
// signatures have at most 72 bytes.
const (
	maxEnvelopeSignature = 4412
	maxClassicSignature  = 256
)

func isEnvelope(message []byte) bool { return bytes.HasPrefix(message, []byte(envelopeMark)) }

// checkEnvelope checks the signature of a DSSE envelope. The envelope does not name an algorithm,
// so the algorithm of the trusted key is used.
func checkEnvelope(s *Set, k *trusted, message []byte, e *receipt.Entry) *receipt.SignatureError {
	sig, ok := decodeEnvelope(e.Signature)
	switch {
	case !ok, k != nil && (k.Algorithm == Ed25519 || k.Algorithm == es256) && len(e.Signature) > len(nativePrefix)+maxClassicSignature:
		return refuse(receipt.CodeMalformedSignature, "the signature of an envelope is padded base64, in its one encoding")
	case k == nil:
		return refuse(receipt.CodeUnknownKey, "%s is not among the trusted keys (%d)", quote(e.KeyID), len(s.keys))
	case len(e.Algorithm) > 0 && !fits(k.Algorithm, string(e.Algorithm)):
		return refuse(receipt.CodeAlgorithmMismatch, "%s is a key for %s, the signature names %s", quote(k.ID), k.Algorithm, quote(e.Algorithm))
	}

	valid := false
	switch k.Algorithm {
	case Ed25519:
		valid = ed25519.Verify(k.material.(ed25519.PublicKey), message, sig)
	case es256:
		digest := sha256.Sum256(message)
		valid = ecdsa.VerifyASN1(k.material.(*ecdsa.PublicKey), digest[:], sig)
	case mldsa65:
		valid = mldsa.Verify(k.material.(*mldsa.PublicKey), message, sig, nil) == nil
	default:
		return refuse(receipt.CodeUnsupportedAlgorithm, "%s is a key for %s; envelopes are judged with keys for %s, %s, and %s", quote(k.ID), k.Algorithm, Ed25519, es256, mldsa65)
	}
	if !valid {
		return refuse(receipt.CodeSignatureInvalid, "not a signature of %s over the envelope", quote(k.ID))
	}
	return nil
}

// decodeEnvelope decodes "base64:" followed by standard base64, which must not contain line breaks
// or unused bits that are set.
func decodeEnvelope(value []byte) ([]byte, bool) {
	text, ok := bytes.CutPrefix(value, []byte(nativePrefix))
	if !ok || len(text) == 0 || len(text) > maxEnvelopeSignature || bytes.ContainsAny(text, "\r\n") {
		return nil, false
	}
	sig, err := base64.StdEncoding.Strict().AppendDecode(nil, text)
	return sig, err == nil
}

// signEnvelope signs the message of a DSSE envelope.
func signEnvelope(ctx context.Context, s *Signer, alg algorithm, message []byte) (receipt.Signature, error) {
	if alg.family != familyEd25519 && alg.name != es256 && alg.name != mldsa65 {
		return receipt.Signature{}, fmt.Errorf("keys: key %s is for %s, but envelopes are signed with keys for %s, %s, and %s", quote(s.public.ID), s.algorithm, Ed25519, es256, mldsa65)
	}

	raw, err := signRaw(ctx, s.raw, alg, message)
	if err == nil && alg.family == familyECDSA {
		raw, err = inDER(raw)
	}

	sig := receipt.Signature{KeyID: s.public.ID, Algorithm: s.algorithm, Signature: nativePrefix + base64.StdEncoding.EncodeToString(raw)}
	if err == nil {
		err = s.confirm(message, sig)
	}
	if err != nil {
		return receipt.Signature{}, fmt.Errorf("keys: signing with %s: %w", quote(s.public.ID), err)
	}
	return sig, nil
}

// inDER converts a signature from r and s of equal length to an Ecdsa-Sig-Value (RFC 3279 section
// 2.2.3), which is the encoding in envelopes.
func inDER(raw []byte) ([]byte, error) {
	half := len(raw) / 2
	return asn1.Marshal(struct{ R, S *big.Int }{new(big.Int).SetBytes(raw[:half]), new(big.Int).SetBytes(raw[half:])})
}
