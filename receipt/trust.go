package receipt

import (
	"context"
	"crypto/ed25519"
	"slices"
	"time"
)

// A Role is what a trusted key may be used for.
type Role string

const (
	// RoleIssuer lets a key speak for the issuers it lists.
	RoleIssuer Role = "issuer"
	// RoleWitness lets a key countersign receipts of any issuer.
	RoleWitness Role = "witness"
	// RoleCheckpoint lets a key sign the checkpoints of a receipt log.
	RoleCheckpoint Role = "checkpoint"
)

// Trust judges one signature entry: its form and its mathematics, nothing
// else. Whether the key may speak for the issuer, at that time, in that role is
// the [Policy]'s business. Package keys implements it from a JWK Set file.
//
// An implementation must be safe for concurrent use, and must take keys only
// from its own configuration: never from a receipt, never from the network.
type Trust interface {
	// CheckSignature checks e over message, the 71 ASCII bytes of
	// chain.receipt_hash, or what the envelope of package attest signs, which begins
	// with "DSSEv1 " and names no algorithm. It judges in this order, and stops at the first that
	// holds: the algorithm is unsupported, the value is malformed, the key is
	// unknown, the algorithm is not the key's, the signature is false.
	//
	// The key is the trusted key that the entry names, nil when there is none;
	// it is returned beside an error too. A nil error says that the signature
	// is mathematically valid under that key.
	CheckSignature(message []byte, e *Entry) (*Key, *SignatureError)

	// Len is the number of trusted keys.
	Len() int
}

// LogTrust is a [Trust] that lists its keys: with those of logs and witnesses,
// [Verifier.With] opens checkpoints, and a [Verifier] knows the same material under other
// IDs. With any other Trust the keys of every log are unknown.
type LogTrust interface {
	Trust

	// NoteKeys returns all trusted keys, whatever their roles. An Ed25519 key
	// with the role checkpoint signs the checkpoints of its Origin. One with
	// the role witness cosigns checkpoints under the name of its Origin, or
	// under its ID when it has none; one whose name no note allows
	// cosigns nothing. A key with the role issuer shows which witnesses have an
	// issuer's own material.
	NoteKeys() []NoteKey
}

// A NoteKey is a trusted key that may sign notes if it is an Ed25519 key.
type NoteKey struct {
	*Key
	Public ed25519.PublicKey // nil for a key of another algorithm, which signs no notes
}

// An Entry is one element of /signatures as it was received. It must not be
// kept: the slices alias the document, and the next entry is written over it.
// SignedAt is nil when the member is absent.
type Entry struct {
	KeyID, Algorithm, Signature, SignedAt []byte

	// Plain is [Policy.Plain], and no part of the element: a Trust that has a
	// fast path leaves it. The judgement is the same.
	Plain bool
}

// A SignatureError says why an entry does not count. Its Code is one of
// unsupported_algorithm and unknown_key, where evidence is missing, or
// malformed_signature, algorithm_mismatch and signature_invalid, which refute. An
// entry with any other code is reported as unknown_key.
type SignatureError struct {
	Code   Code
	Detail string
}

// Error gives the code and the detail.
func (e *SignatureError) Error() string { return string(e.Code) + ": " + e.Detail }

// judges reports whether the code is one that a [Trust] gives. Nothing else says
// that a signature is false.
func (e *SignatureError) judges() bool {
	if e == nil {
		return false
	}

	switch e.Code {
	case CodeUnsupportedAlgorithm, CodeUnknownKey, CodeMalformedSignature, CodeAlgorithmMismatch, CodeSignatureInvalid:
		return true
	}
	return false
}

// A Key is what a policy needs to know of a trusted key.
type Key struct {
	ID        string
	Algorithm string   // "ed25519" (which also accepts "EdDSA"), or a JWS name such as "ES256"
	Issuers   []string // empty: speaks only for the issuer that the policy names
	Roles     []Role   // empty: issuer
	Origin    string   // of a checkpoint key: the log's name

	NotBefore, NotAfter time.Time // valid when NotBefore ≤ t < NotAfter; zero: unbounded

	// Revoked is why the key ended. A revocation other than "superseded" is one of the key
	// material: a Trust states it for every ID of the material.
	Revoked *Revocation

	// Thumbprint is the SHA-256 JWK thumbprint (RFC 7638). Equal thumbprints
	// are the same key material, whatever the key ids say.
	Thumbprint [32]byte
}

// Has reports whether the key has the role.
func (k *Key) Has(r Role) bool {
	if len(k.Roles) == 0 {
		return r == RoleIssuer
	}
	return slices.Contains(k.Roles, r)
}

// speaksFor reports whether the key lists the issuer as one for whom it speaks, or is bound
// to the issuer that a policy names.
func (k *Key) speaksFor(issuer string) bool {
	return k.Has(RoleIssuer) && (len(k.Issuers) == 0 || slices.Contains(k.Issuers, issuer))
}

// ReasonSuperseded is the one reason after which a key's earlier signatures
// keep their worth.
const ReasonSuperseded = "superseded"

// A Revocation ends a key's worth. With the reason "superseded" signatures
// made before At still count, judged like an expiry. With any other reason,
// "compromised" or none included, no clock in a receipt can be believed and
// every signature of the key is refused.
type Revocation struct {
	At     time.Time
	Reason string
}

// A Signature is one element of /signatures.
type Signature struct {
	KeyID     string `json:"key_id"`
	Algorithm string `json:"algorithm"`
	Signature string `json:"signature"`
	SignedAt  Time   `json:"signed_at,omitzero"`
}

// A Signer makes one signature entry over message, the 71 ASCII bytes of
// chain.receipt_hash. The context bounds a call to a KMS or an HSM.
// Package keys adapts a crypto.Signer.
type Signer interface {
	Sign(ctx context.Context, message []byte) (Signature, error)
}
