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

// errNotHash indicates that a message is neither a receipt hash nor the message of an envelope.
// [Signer.Sign] signs nothing else.
var errNotHash = errors.New("keys: a receipt key signs only receipt hashes and envelopes that contain receipts")

// A Signer creates signature entries with one key. It is safe for concurrent use if its
// ContextSigner is. Printing a Signer does not show its key.
type Signer struct {
	public    *PublicKey
	algorithm string
	raw       rawSigner
	now       func() time.Time
	check     *Set // for a remote key, checks the receipt signatures that the service returns
}

var _ receipt.Signer = (*Signer)(nil)

// NewSigner returns a Signer that signs with k. now returns the time of each signature. If now is
// nil, signed_at is omitted, and so is iat in the header of a JWS.
func NewSigner(k *PrivateKey, now func() time.Time) *Signer {
	return &Signer{public: k.public, algorithm: k.algorithm, raw: local(k.key), now: now}
}

// NewRemoteSigner returns a Signer whose key is held elsewhere, such as in a KMS. The algorithm is
// one of [Algorithms] or [MLDSA44]. It must match the public key, which is checked like a trusted
// key. If id is empty, the ID is chosen as in [FromPublic]. Each signature is verified before it is
// returned, so that a service with a different key is detected.
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
		return signer, nil // signs only checkpoints, whose signatures package tlog checks
	}

	// A set that contains this key checks the returned signatures.
	if signer.check, err = NewSet(public); err != nil {
		return nil, err
	}
	return signer, nil
}

// Public returns the public key.
func (s *Signer) Public() *PublicKey { return s.public.clone() }

// Format writes the ID and the algorithm, for every verb.
func (s Signer) Format(w fmt.State, _ rune) {
	fmt.Fprintf(w, "signer %s (%s)", quote(s.public.ID), s.algorithm)
}

// forReceipts returns the algorithm with which the signer signs receipts.
func (s *Signer) forReceipts() (algorithm, error) {
	alg, ok := algorithmOf(s.algorithm)
	if !ok {
		return alg, fmt.Errorf("keys: key %s is for %s, which signs only checkpoints", quote(s.public.ID), quote(s.algorithm))
	}
	return alg, nil
}

// Sign signs message, which must be the text of chain.receipt_hash or the message of a DSSE
// envelope. If the context ends before the signature is available, Sign returns the context's
// error.
//
// The signature of an envelope is "base64:" followed by the standard base64 of an RFC 8032
// signature, an Ecdsa-Sig-Value in DER (RFC 3279 section 2.2.3), or an ML-DSA-65 signature. It has
// no signed_at. Only Ed25519, ES256, and ML-DSA-65 keys sign envelopes.
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

	// iat repeats signed_at inside the signed data, in whole seconds.
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

// confirm verifies the signature of a remote key as a verifier would.
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

// SignCheckpoint signs a log's checkpoint with the log's Ed25519 or ML-DSA-44 key. The checkpoint's
// origin is the log's name. The result is a signed note. The text of a checkpoint has at least
// three lines, so it is never a receipt hash.
//
// The caller must keep track of the trees that a log has signed: see
// [tlog.LogSigner.SignCheckpoint].
func (s *Signer) SignCheckpoint(ctx context.Context, c *tlog.Checkpoint) ([]byte, error) {
	log, err := s.public.Log(c.Origin)
	if err != nil {
		return nil, err
	}
	return (&tlog.LogSigner{Log: log, SignMessage: s.signNote}).SignCheckpoint(ctx, c)
}

// Cosign adds a witness's cosignature, with the witness's name and the time, to a signed
// checkpoint. It does not check who signed the checkpoint or which tree it extends: see
// [tlog.Cosigner.Cosign].
func (s *Signer) Cosign(ctx context.Context, name string, checkpoint []byte, at time.Time) ([]byte, error) {
	witness, err := s.public.Witness(name)
	if err != nil {
		return nil, err
	}
	return (&tlog.Cosigner{Witness: witness, SignMessage: s.signNote}).Cosign(ctx, checkpoint, at)
}

// signNote signs the message itself, without hashing it first. Package tlog verifies the signature.
func (s *Signer) signNote(ctx context.Context, message []byte) ([]byte, error) {
	return signRaw(ctx, s.raw, algorithm{}, message)
}

// coseMark is the prefix of every Sig_structure of a COSE_Sign1 message (RFC 9052 section 4.4): an
// array of four elements, and its context. No other message that this package signs begins with it.
const coseMark = "\x84\x6aSignature1"

// SignCOSE signs the Sig_structure of a COSE_Sign1 message. The result is the message's signature
// value. The key must be an EdDSA or ECDSA key.
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

// SignObject signs the text of a JSON object as a JWS (RFC 7515) with alg, kid, and typ in its
// protected header, and returns the compact serialization. The payload of a receipt signature is a
// hash, which is not an object.
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

	// The private key of a remote signer may not match its public key.
	input := compact[:bytes.LastIndexByte([]byte(compact), '.')]
	if err := s.confirmRaw([]byte(input), token.Signatures[0].Signature); err != nil {
		return "", fmt.Errorf("keys: signing with %s: %w", quote(s.public.ID), err)
	}
	return compact, nil
}

// confirmRaw verifies a signature as a recipient would.
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

// An opaqueSigner lets go-jose create the token while a rawSigner signs. It is used for a single
// signature, with that signature's context.
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

// A ContextSigner is a private key that may be in a KMS or an HSM. It is like a crypto.Signer, but
// receives a context instead of a source of randomness.
//
// The argument of SignContext depends on opts: with crypto.Hash(0), for Ed25519 and ML-DSA, it is
// the message itself; with any other hash, it is the digest. An ECDSA signature is returned in
// ASN.1 DER, as with crypto.Signer. An RSA signature uses PKCS #1 v1.5, or PSS with a salt as long
// as the hash if opts is an *rsa.PSSOptions.
//
// If a service accepts the message and hashes it itself, as an ssh-agent does, its type also has
// the method
//
//	SignMessageContext(ctx context.Context, message []byte, opts crypto.SignerOpts) ([]byte, error)
//
// This method is called instead of SignContext, always with the message regardless of opts. It
// relates to crypto.MessageSigner as SignContext relates to crypto.Signer.
type ContextSigner interface {
	Public() crypto.PublicKey
	SignContext(ctx context.Context, digestOrMessage []byte, opts crypto.SignerOpts) ([]byte, error)
}

// A messageSigner is a ContextSigner that hashes the message itself.
type messageSigner interface {
	SignMessageContext(ctx context.Context, message []byte, opts crypto.SignerOpts) ([]byte, error)
}

// A rawSigner signs like a ContextSigner.
type rawSigner struct {
	sign   func(ctx context.Context, digestOrMessage []byte, opts crypto.SignerOpts) ([]byte, error)
	hashes bool // sign hashes the message itself
}

// local returns a rawSigner for a key in memory. It cannot be interrupted, so signRaw checks the
// context before and after the call.
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

// signRaw returns the signature of input in JWS encoding (RFC 7518 section 3). For ed25519, this is
// the RFC 8032 signature.
func signRaw(ctx context.Context, s rawSigner, alg algorithm, input []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	// Ed25519 and ML-DSA sign the message itself (RFC 8032, RFC 9964). The other algorithms sign
	// the message's digest.
	data := input
	var opts crypto.SignerOpts = alg.hash
	if !s.hashes && alg.hash != 0 {
		h := alg.hash.New()
		h.Write(input)
		data = h.Sum(nil)
	}
	// RFC 7518 section 3.5: the salt is as long as the hash.
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

	// RFC 7518 section 3.4: an ECDSA signature in JWS is r and s, not DER.
	if alg.family == familyECDSA {
		return fixedWidth(sig, alg.size)
	}
	if alg.size != 0 && len(sig) != alg.size {
		return nil, fmt.Errorf("signer returned %d bytes, but a signature with %s has %d", len(sig), alg.name, alg.size)
	}
	return sig, nil
}

// fixedWidth converts Ecdsa-Sig-Value (RFC 3279 section 2.2.3) to r and s of equal width (RFC
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
