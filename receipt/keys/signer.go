package keys

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"encoding/asn1"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

// errNotHash means that a message is neither a receipt hash nor the message of an envelope.
// [Signer.Sign] does not sign any other message.
var errNotHash = errors.New("keys: a receipt key signs only receipt hashes and envelopes that contain receipts")

// errNoKey means that a key or a signer is a zero value.
var errNoKey = errors.New("keys: the key is empty; Generate, ParsePrivate, and ParsePrivatePEM return keys")

// A Signer makes signature entries with one key. It is safe for concurrent use if its ContextSigner
// is. Printing a Signer does not show the key. The zero Signer has no key, and signs nothing.
type Signer struct {
	public    *PublicKey
	algorithm string
	raw       rawSigner
	now       func() time.Time
	check     *Set // for a remote key, the set used to check the signatures that the service returns
}

var _ receipt.Signer = (*Signer)(nil)

// NewSigner returns a Signer for the key k. now returns the time at which a signature is made. If
// now is nil, signatures contain neither signed_at nor, in the header of a JWS, iat.
func NewSigner(k *PrivateKey, now func() time.Time) *Signer {
	return &Signer{public: k.public, algorithm: k.algorithm, raw: local(k.key), now: now}
}

// NewRemoteSigner returns a Signer for a key that is stored elsewhere, such as in a KMS. The
// algorithm is one of [Algorithms] or [MLDSA44]. It must match the public key, which is checked in
// the same way as a trusted key. If id is empty, the ID is derived from the key as in [FromPublic].
// Each signature is verified before it is returned, so that a service that uses a different key is
// detected.
func NewRemoteSigner(id, algorithm string, s ContextSigner, now func() time.Time) (*Signer, error) {
	if s == nil {
		return nil, errors.New("keys: signer is missing")
	}
	if err := checkAlgorithm(algorithm); err != nil {
		return nil, err
	}
	public, err := FromPublic(s.Public(), id, algorithm)
	if err != nil {
		return nil, err
	}

	signer := &Signer{public: public, algorithm: algorithm, raw: remote(s), now: now}
	if algorithm == MLDSA44 {
		return signer, nil // makes only checkpoint signatures, which package tlog checks
	}

	// Returned signatures are checked with a set that contains this key.
	if signer.check, err = NewSet(public); err != nil {
		return nil, err
	}
	return signer, nil
}

// Public returns the public key.
func (s *Signer) Public() *PublicKey { return s.public.clone() }

// Format writes the ID and the algorithm for every verb.
func (s Signer) Format(w fmt.State, _ rune) {
	fmt.Fprintf(w, "signer %s (%s)", quote(s.Public().ID), s.algorithm)
}

// forReceipts returns the algorithm that the signer uses for receipts.
func (s *Signer) forReceipts() (algorithm, error) {
	if s.public == nil {
		return algorithm{}, errNoKey
	}
	alg, ok := algorithmOf(s.algorithm)
	if !ok {
		return alg, fmt.Errorf("keys: key %s is for %s, which signs only checkpoints", quote(s.public.ID), quote(s.algorithm))
	}
	return alg, nil
}

// Sign signs message, which must be the value of chain.receipt_hash or the message of a DSSE
// envelope. If the context ends before the signature is available, Sign returns the context's
// error.
//
// The signature of an envelope is "base64:" followed by the standard base64 of an RFC 8032
// signature, an Ecdsa-Sig-Value in DER (RFC 3279 section 2.2.3), or an ML-DSA-65 signature. The
// entry of such a signature has no signed_at. Only Ed25519, ES256, and ML-DSA-65 keys can sign
// envelopes.
func (s *Signer) Sign(ctx context.Context, message []byte) (receipt.Signature, error) {
	alg, err := s.forReceipts()
	if err != nil {
		return receipt.Signature{}, err
	}
	if isEnvelope(message) {
		return signEnvelope(ctx, s, alg, message)
	}
	if _, err := canon.ParseDigest(message); err != nil {
		return receipt.Signature{}, errNotHash
	}

	// iat is signed and has the same value as signed_at, in whole seconds.
	sig := receipt.Signature{KeyID: s.public.ID, Algorithm: s.algorithm}
	var iat *int64
	if s.now != nil {
		sig.SignedAt = receipt.At(s.now())
		seconds := sig.SignedAt.Unix()
		iat = &seconds
	}

	value, err := s.value(ctx, alg, message, iat)
	if err == nil {
		sig.Signature = value
		err = s.confirm(message, sig)
	}
	if err != nil {
		return receipt.Signature{}, fmt.Errorf("keys: signing with %s: %w", quote(s.public.ID), err)
	}

	return sig, nil
}

func (s *Signer) value(ctx context.Context, alg algorithm, message []byte, iat *int64) (string, error) {
	if alg.name != Ed25519 {
		options := new(jose.SignerOptions)
		if iat != nil {
			options.WithHeader("iat", *iat)
		}
		obj, err := signToken(ctx, s.raw, alg, s.public, options, message)
		if err != nil {
			return "", err
		}
		compact, err := obj.DetachedCompactSerialize()
		return tokenPrefix + compact, err
	}
	raw, err := signRaw(ctx, s.raw, alg, message)
	if err != nil {
		return "", err
	}
	return nativePrefix + base64.StdEncoding.EncodeToString(raw), nil
}

// confirm verifies the signature of a remote key in the same way as a verifier.
func (s *Signer) confirm(message []byte, sig receipt.Signature) error {
	if s.check == nil {
		return nil
	}
	e := receipt.Entry{KeyID: []byte(sig.KeyID), Algorithm: []byte(sig.Algorithm), Signature: []byte(sig.Signature)}
	if !sig.SignedAt.IsZero() {
		e.SignedAt = []byte(sig.SignedAt.String())
	}
	if _, err := s.check.CheckSignature(message, &e); err != nil {
		return fmt.Errorf("signer returned a signature that its public key does not verify (%w)", err)
	}
	return nil
}

// SignCheckpoint signs the checkpoint of a log with the Ed25519 or ML-DSA-44 key of that log. The
// origin of the checkpoint is the log's name. The result is a signed note. A checkpoint has at
// least three lines, so it can never be mistaken for a receipt hash.
//
// The caller must keep track of the trees that the log has signed; see
// [tlog.LogSigner.SignCheckpoint].
func (s *Signer) SignCheckpoint(ctx context.Context, c *tlog.Checkpoint) ([]byte, error) {
	log, err := s.public.Log(c.Origin)
	if err != nil {
		return nil, err
	}
	return (&tlog.LogSigner{Log: log, SignMessage: s.signNote}).SignCheckpoint(ctx, c)
}

// Cosign adds a cosignature to a signed checkpoint. The cosignature contains the name of the
// witness and the time. Cosign does not check who signed the checkpoint or which tree it extends;
// see [tlog.Cosigner.Cosign].
func (s *Signer) Cosign(ctx context.Context, name string, checkpoint []byte, at time.Time) ([]byte, error) {
	witness, err := s.public.Witness(name)
	if err != nil {
		return nil, err
	}
	return (&tlog.Cosigner{Witness: witness, SignMessage: s.signNote}).Cosign(ctx, checkpoint, at)
}

// signNote signs the message without hashing it first. Package tlog verifies the signature.
func (s *Signer) signNote(ctx context.Context, message []byte) ([]byte, error) {
	return signRaw(ctx, s.raw, algorithm{}, message)
}

// coseMark is the prefix of every Sig_structure of a COSE_Sign1 message (RFC 9052 section 4.4). It
// begins an array of four elements, of which the first is the context. No other message that this
// package signs has this prefix.
const coseMark = "\x84\x6aSignature1"

// SignCOSE signs the Sig_structure of a COSE_Sign1 message. The result is the value of the
// signature in the message. The key must be an EdDSA or ECDSA key.
func (s *Signer) SignCOSE(ctx context.Context, structure []byte) ([]byte, error) {
	alg, err := s.forReceipts()
	switch {
	case err != nil:
		return nil, err
	case !bytes.HasPrefix(structure, []byte(coseMark)):
		return nil, errors.New("keys: expected the Sig_structure of a COSE_Sign1 message")
	case alg.family != familyEd25519 && alg.family != familyECDSA:
		return nil, fmt.Errorf("keys: key %s is for %s, but COSE messages are signed with keys for Ed25519 and ECDSA", quote(s.public.ID), s.algorithm)
	}

	raw, err := signRaw(ctx, s.raw, alg, structure)
	if err == nil {
		err = s.confirmRaw(structure, raw)
	}
	if err != nil {
		return nil, fmt.Errorf("keys: signing with %s: %w", quote(s.public.ID), err)
	}
	return raw, nil
}

// SignObject signs a JSON object as a JWS (RFC 7515) and returns the compact serialization. The
// protected header contains alg, kid, and typ. The result cannot be mistaken for the signature of a
// receipt, whose payload is a hash and not an object.
func (s *Signer) SignObject(ctx context.Context, object []byte) (string, error) {
	if !bytes.HasPrefix(object, []byte("{")) {
		return "", errors.New("keys: expected the text of a JSON object")
	}
	alg, err := s.forReceipts()
	if err != nil {
		return "", err
	}
	if alg.name == Ed25519 {
		alg.name = edDSA
	}
	token, err := signToken(ctx, s.raw, alg, s.public, new(jose.SignerOptions).WithType("JOSE"), object)
	if err != nil {
		return "", fmt.Errorf("keys: signing with %s: %w", quote(s.public.ID), err)
	}
	compact, err := token.CompactSerialize()
	if err != nil {
		return "", err
	}

	// The public key of a remote signer might not match its private key.
	input := compact[:bytes.LastIndexByte([]byte(compact), '.')]
	if err := s.confirmRaw([]byte(input), token.Signatures[0].Signature); err != nil {
		return "", fmt.Errorf("keys: signing with %s: %w", quote(s.public.ID), err)
	}
	return compact, nil
}

// confirmRaw verifies a signature in the same way as a recipient.
func (s *Signer) confirmRaw(message, value []byte) error {
	if err := checkRaw(s.public, message, &receipt.ForeignSignature{Value: value}); err != nil {
		return err
	}
	return nil
}

// signToken returns a JWS whose protected header contains alg, the members of options, and kid (if
// the key has an ID), in this order.
func signToken(ctx context.Context, s rawSigner, alg algorithm, public *PublicKey, options *jose.SignerOptions, payload []byte) (*jose.JSONWebSignature, error) {
	if public.ID != "" {
		options.WithHeader("kid", public.ID)
	}
	opaque := &opaqueSigner{ctx: ctx, raw: s, algorithm: alg}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(alg.name), Key: opaque}, options)
	if err != nil {
		return nil, err
	}
	return signer.Sign(payload)
}

// An opaqueSigner uses a rawSigner to sign the data that it receives from go-jose. Each
// opaqueSigner is used for one signature, with the context for that signature.
type opaqueSigner struct {
	ctx       context.Context
	raw       rawSigner
	algorithm algorithm
}

func (*opaqueSigner) Public() *jose.JSONWebKey { return nil } // go-jose does not support ML-DSA keys

func (o *opaqueSigner) Algs() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.SignatureAlgorithm(o.algorithm.name)}
}

func (o *opaqueSigner) SignPayload(input []byte, _ jose.SignatureAlgorithm) ([]byte, error) {
	return signRaw(o.ctx, o.raw, o.algorithm, input)
}

// A ContextSigner makes signatures with a private key, which may be in a KMS or an HSM. It is
// similar to a crypto.Signer, but its method has a context parameter instead of a source of
// randomness.
//
// If opts is crypto.Hash(0), for Ed25519 and ML-DSA, the argument of SignContext is the message
// itself. For any other hash, the argument is the digest. An ECDSA signature is in ASN.1 DER, as
// with crypto.Signer. An RSA signature uses PSS, with a salt as long as the hash, if opts is an
// *rsa.PSSOptions, and PKCS #1 v1.5 otherwise.
//
// If a service hashes the message itself, such as an ssh-agent, its type also has the method
//
//	SignMessageContext(ctx context.Context, message []byte, opts crypto.SignerOpts) ([]byte, error)
//
// This method is then called instead of SignContext. Its argument is always the message, regardless
// of opts. It corresponds to crypto.MessageSigner.SignMessage, just as SignContext corresponds to
// crypto.Signer.Sign.
type ContextSigner interface {
	Public() crypto.PublicKey
	SignContext(ctx context.Context, digestOrMessage []byte, opts crypto.SignerOpts) ([]byte, error)
}

// A messageSigner is a ContextSigner that hashes the message itself.
type messageSigner interface {
	SignMessageContext(ctx context.Context, message []byte, opts crypto.SignerOpts) ([]byte, error)
}

// A rawSigner signs data like a ContextSigner.
type rawSigner struct {
	sign   func(ctx context.Context, digestOrMessage []byte, opts crypto.SignerOpts) ([]byte, error)
	hashes bool // whether sign hashes the message itself
}

// local returns a rawSigner for a key in memory. Signing cannot be interrupted, so signRaw checks
// the context before and after the call.
func local(key crypto.Signer) rawSigner {
	return rawSigner{sign: func(_ context.Context, data []byte, opts crypto.SignerOpts) ([]byte, error) {
		return key.Sign(rand.Reader, data, opts)
	}}
}

func remote(s ContextSigner) rawSigner {
	if m, ok := s.(messageSigner); ok {
		return rawSigner{m.SignMessageContext, true}
	}
	return rawSigner{sign: s.SignContext}
}

// signRaw returns the signature of input in the encoding of a JWS (RFC 7518 section 3). For
// ed25519, this is the signature defined in RFC 8032.
func signRaw(ctx context.Context, s rawSigner, alg algorithm, input []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	// With Ed25519 and ML-DSA, the message itself is signed (RFC 8032, RFC 9964). With the other
	// algorithms, the digest of the message is signed.
	data := input
	var opts crypto.SignerOpts = alg.hash
	if !s.hashes && alg.hash != 0 {
		h := alg.hash.New()
		h.Write(input)
		data = h.Sum(nil)
	}
	// The salt is as long as the hash (RFC 7518 section 3.5).
	if alg.family == familyPSS {
		opts = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: alg.hash}
	}

	sig, err := s.sign(ctx, data, opts)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	// In a JWS, an ECDSA signature consists of r and s, and is not in DER (RFC 7518 section 3.4).
	if alg.family == familyECDSA {
		return fixedWidth(sig, alg.size)
	}
	if alg.size != 0 && len(sig) != alg.size {
		return nil, fmt.Errorf("signer returned %d bytes, but a signature with %s has %d", len(sig), alg.name, alg.size)
	}
	return sig, nil
}

// fixedWidth converts an Ecdsa-Sig-Value (RFC 3279 section 2.2.3) to r and s of equal length (RFC
// 7518 section 3.4).
func fixedWidth(der []byte, size int) ([]byte, error) {
	var sig struct{ R, S *big.Int }
	rest, err := asn1.Unmarshal(der, &sig)
	half := size / 2
	if err != nil || len(rest) > 0 || sig.R.Sign() <= 0 || sig.S.Sign() <= 0 || sig.R.BitLen() > 8*half || sig.S.BitLen() > 8*half {
		return nil, errors.New("signer returned an invalid ASN.1 ECDSA signature")
	}
	out := make([]byte, size)
	sig.R.FillBytes(out[:half])
	sig.S.FillBytes(out[half:])
	return out, nil
}
