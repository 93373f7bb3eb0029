package receipt

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// A Policy says what a receipt must show to be verified. The zero Policy asks
// for one valid signature by a key that may speak for the receipt's issuer.
type Policy struct {
	// Issuer is the issuer.id that receipts must have. Keys that list no
	// issuers of their own speak for it. Empty: any issuer, and such keys speak
	// for nobody.
	Issuer string

	// Witnesses asks for countersignatures. Zero: none.
	Witnesses Quorum

	// Checkpoint asks that the receipt is shown to be in a checkpoint of a
	// trusted log. Zero: not asked for.
	Checkpoint CheckpointRule

	// At is the time at which the validity of keys is judged. Zero: at the
	// receipt's own issued_at, which is inside the hash.
	At time.Time

	// Now is the current time. A receipt issued later is a warning. Zero: not
	// judged.
	Now time.Time

	// IntegrityOnly asks only whether the content fits its hash. The report's
	// scope says so. Signatures are then not looked at.
	IntegrityOnly bool

	// Strict leaves every receipt undecided of which any applicable step was
	// not checked. A receipt that states that nothing precedes it has no
	// predecessor to check, alone as among others.
	Strict bool

	// Plain turns every fast path off: canonical bytes by gowebpki/jcs, the
	// schema by jsonschema, signatures by the standard library (a JWS through
	// go-jose).
	Plain bool

	// NoInputDigest leaves InputSHA256 out of reports, for callers that do not
	// show it. Hashing the input costs a sixth of a receipt's time without its
	// signatures.
	NoInputDigest bool

	// Limits bound the input below what the format allows ([MaxBytes],
	// [MaxDepth]); a receipt beyond them is undecided. Zero: the format's.
	Limits canon.Limits
}

// A CheckpointRule says what a checkpoint must show. It is met by one checkpoint
// that includes the receipt ([Evidence.Proofs]).
type CheckpointRule struct {
	// Required leaves every receipt undecided that is not shown to be in a
	// checkpoint of a trusted log.
	Required bool

	// Cosigners is how many witnesses must have cosigned that checkpoint. They
	// are counted by distinct key material, which is neither the log's nor the
	// issuer's. A threshold asks for a checkpoint also when Required is not set.
	// Keys also says whose cosignatures tell the time of a checkpoint when a key
	// was revoked; empty: every trusted witness's.
	Cosigners Quorum
}

func (r *CheckpointRule) asked() bool { return r.Required || r.Cosigners.Threshold > 0 }

// Limits of the receipt format. A document beyond them is not a receipt.
const (
	MaxBytes      = 16 << 20 // bytes
	MaxDepth      = 128      // nested arrays and objects
	maxSignatures = 100      // entries of /signatures that are examined
)

// limits returns the limits in force: the format's, or lower ones of the caller's.
func (p *Policy) limits() canon.Limits {
	l := canon.Limits{Bytes: MaxBytes, Depth: MaxDepth}
	if p.Limits.Bytes > 0 {
		l.Bytes = min(l.Bytes, p.Limits.Bytes)
	}
	if p.Limits.Depth > 0 {
		l.Depth = min(l.Depth, p.Limits.Depth)
	}
	return l
}

func (p *Policy) validate(trust Trust) error {
	switch {
	case p.IntegrityOnly && (p.Issuer != "" || p.Witnesses.Threshold != 0):
		return errors.New("receipt: a policy for integrity only looks at no signatures, so it can name no issuer and no witnesses")
	case p.IntegrityOnly && (p.Checkpoint.asked() || p.Checkpoint.Cosigners.Threshold != 0):
		return errors.New("receipt: a policy for integrity only knows no keys of logs, so it can ask for no checkpoint")
	case !p.IntegrityOnly && (trust == nil || trust.Len() == 0):
		return errors.New("receipt: no trusted keys; give at least one, or ask for integrity only")
	}

	if err := p.Witnesses.validate("witnesses"); err != nil {
		return err
	}
	if err := p.Checkpoint.Cosigners.validate("cosigners"); err != nil {
		return err
	}
	return reachable(p, trust)
}

// A Quorum is a number of witnesses, counted by distinct key material.
type Quorum struct {
	Threshold int      // how many must have signed; 0: none are asked for
	Keys      []string // key ids that count; empty: every trusted witness
}

func (q *Quorum) validate(who string) error {
	switch {
	case q.Threshold < 0:
		return fmt.Errorf("receipt: a threshold of %s is at least 1, found %d", who, q.Threshold)
	case q.Threshold == 0 && len(q.Keys) > 0:
		return fmt.Errorf("receipt: %s are named, but the threshold is 0", who)
	case len(q.Keys) > 0 && q.Threshold > len(q.Keys):
		return fmt.Errorf("receipt: %d %s are asked for, but only %d are named", q.Threshold, who, len(q.Keys))
	}
	return nil
}

func (q *Quorum) admits(id string) bool {
	return len(q.Keys) == 0 || slices.Contains(q.Keys, id)
}

// reachable checks that enough of the trusted keys can count as witnesses. Otherwise, every
// receipt would be undecided for a reason that no sender can remove. Only a [LogTrust]
// lists its keys.
func reachable(p *Policy, trust Trust) error {
	listed, ok := trust.(LogTrust)
	if !ok || p.Witnesses.Threshold == 0 && p.Checkpoint.Cosigners.Threshold == 0 {
		return nil
	}

	keys := listed.NoteKeys()
	signs := func(NoteKey) string { return "" }
	if err := p.Witnesses.reachable("witnesses", p.Issuer, keys, signs); err != nil {
		return err
	}
	return p.Checkpoint.Cosigners.reachable("cosigners", p.Issuer, keys, cannotCosign)
}

// cannotCosign says why a key can sign no cosignature; "" if it can.
func cannotCosign(k NoteKey) string {
	if _, err := tlog.NewWitness(cmp.Or(k.Origin, k.ID), k.Public); err == nil {
		return ""
	}
	if k.Public == nil {
		return "is for " + k.Algorithm + ", and checkpoints are cosigned with Ed25519 keys"
	}
	return "has a name that no note allows"
}

// reachable counts the trusted keys that can be among the witnesses, by distinct material.
// unfit says why a key can never sign as one.
func (q *Quorum) reachable(who, issuer string, keys []NoteKey, unfit func(NoteKey) string) error {
	if q.Threshold == 0 {
		return nil
	}

	byID, material := map[string]NoteKey{}, map[[32]byte]string{}
	ids := slices.Clone(q.Keys)
	for _, k := range keys {
		if byID[k.ID] = k; len(q.Keys) == 0 && k.Has(RoleWitness) {
			ids = append(ids, k.ID)
		}
	}

	var why []string
	for _, id := range ids {
		k, known := byID[id]
		if !known {
			why = append(why, quoted(id)+" is not a trusted key")
			continue
		}

		other, again := material[k.Thumbprint]
		switch reason := unfit(k); {
		case !k.Has(RoleWitness):
			why = append(why, fmt.Sprintf("%s does not have the role witness (its roles: %s)", quoted(id), roleList(k.Roles)))
		case reason != "":
			why = append(why, quoted(id)+" "+reason)
		case issuer != "" && slices.ContainsFunc(keys, func(o NoteKey) bool { return o.Thumbprint == k.Thumbprint && o.speaksFor(issuer) }):
			why = append(why, fmt.Sprintf("%s is a key of the issuer %s", quoted(id), quoted(issuer)))
		case again:
			why = append(why, fmt.Sprintf("%s is the same key as %s", quoted(id), quoted(other)))
		default:
			material[k.Thumbprint] = id
		}
	}

	if len(material) >= q.Threshold {
		return nil
	}
	if len(why) == 0 {
		why = append(why, "no other trusted key has the role witness")
	}
	return fmt.Errorf("receipt: the policy can never be met: the threshold of %s is %d, but only %d of the trusted keys can count: %s",
		who, q.Threshold, len(material), strings.Join(why, "; "))
}

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
