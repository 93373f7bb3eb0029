package receipt

import (
	"cmp"
	"context"
	"crypto"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// A Policy contains the requirements that a receipt must meet to be verified. The zero Policy
// requires one valid signature by a key that may sign for the issuer of the receipt.
type Policy struct {
	// Issuer is the required issuer.id. A key that lists no issuers may sign for this issuer. If
	// Issuer is "", any issuer is accepted, but a key that lists no issuers may not sign for any.
	Issuer string

	// Witnesses requires countersignatures. The zero value requires no witnesses.
	Witnesses Quorum

	// Checkpoint requires evidence that the receipt is included in a checkpoint of a trusted log.
	// The zero value requires no checkpoint.
	Checkpoint CheckpointRule

	// Timestamp requires a proven time, that is, a timestamp of the receipt or of a checkpoint that
	// includes it. A receipt without a proven time is undecided.
	Timestamp bool

	// At is the time at which keys must be valid. If it is zero, keys must be valid at the
	// issued_at of the receipt, which the hash covers.
	At time.Time

	// Now is the current time. A receipt with a later issued_at gets a warning. If Now is zero,
	// issued_at is not compared with it.
	Now time.Time

	// IntegrityOnly requires only that the content of the receipt matches its hash. Signatures are
	// then not checked, and the scope of the report is "integrity".
	IntegrityOnly bool

	// Strict makes a receipt undecided if any applicable step was not checked. A receipt that
	// claims to have no predecessor has no link to check, whether it is verified alone or with
	// others.
	Strict bool

	// Plain disables all fast paths: gowebpki/jcs computes canonical bytes, jsonschema validates
	// against the schema, and the standard library (or go-jose, for a JWS) verifies signatures.
	Plain bool

	// Rules are additional requirements of the caller. They can refute a receipt or leave it
	// undecided, but they cannot make it verified. Rules must have different names.
	Rules []Rule

	// NoInputDigest omits InputSHA256 from reports, for callers that do not use it. Computing this
	// digest takes about a sixth of the time needed to verify a receipt (excluding its signatures).
	NoInputDigest bool

	// Limits contains limits on the input that are lower than [MaxBytes] and [MaxDepth], the limits
	// of the format. A receipt that exceeds only these lower limits is undecided. The zero value
	// means the limits of the format.
	Limits canon.Limits
}

// A CheckpointRule contains requirements for a checkpoint. A single checkpoint that includes the
// receipt (see [Evidence.Proofs]) must meet all of these requirements.
type CheckpointRule struct {
	// If Required is set, a receipt is undecided unless evidence shows that it is included in a
	// checkpoint of a trusted log.
	Required bool

	// Logs lists the IDs of the keys that are accepted as log keys. If Logs is empty, all trusted
	// log keys are accepted.
	Logs []string

	// Cosigners is the quorum of witnesses that must have cosigned the same checkpoint. Witnesses
	// are counted by distinct key material, which must differ from the key material of the log and
	// of the issuer. If there is a threshold, a checkpoint is required even if Required is not set.
	// Keys also determines which witnesses can show the age of a checkpoint after a key was
	// revoked. If Keys is empty, all trusted witnesses are accepted.
	Cosigners Quorum
}

func (r *CheckpointRule) asked() bool { return r.Required || r.Cosigners.Threshold > 0 }

// These are the limits of the receipt format. A document that exceeds them is not a receipt.
const (
	MaxBytes      = 16 << 20 // bytes
	MaxDepth      = 128      // nested arrays and objects
	maxSignatures = 100      // number of signature entries that are examined
)

// limits returns the effective limits: the limits of the format, or lower limits that the caller
// has set.
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

// clone returns a copy that shares no lists with the original.
func (p Policy) clone() Policy {
	p.Rules = slices.Clone(p.Rules)
	p.Witnesses.Keys = slices.Clone(p.Witnesses.Keys)
	p.Checkpoint.Logs, p.Checkpoint.Cosigners = slices.Clone(p.Checkpoint.Logs), p.Checkpoint.Cosigners.clone()
	return p
}

func (p *Policy) validate(trust Trust) error {
	switch {
	case p.IntegrityOnly && (p.Issuer != "" || p.Witnesses.Threshold != 0):
		return errors.New("receipt: a policy for integrity only checks no signatures, so it cannot require an issuer or witnesses")
	case p.IntegrityOnly && (p.Checkpoint.asked() || p.Checkpoint.Cosigners.Threshold != 0):
		return errors.New("receipt: a policy for integrity only has no keys of logs, so it cannot require a checkpoint")
	case !p.IntegrityOnly && (trust == nil || trust.Len() == 0):
		return errors.New("receipt: no trusted keys; supply at least one, or request integrity only")
	}

	if len(p.Witnesses.Groups) > 0 {
		return errors.New("receipt: witnesses of receipts have no groups")
	}
	if err := p.Witnesses.validate("witnesses"); err != nil {
		return err
	}
	if err := p.Checkpoint.Cosigners.validate("cosigners"); err != nil {
		return err
	}
	return reachable(p, trust)
}

// A Quorum requires a number of witnesses, which are counted by distinct key material.
type Quorum struct {
	Threshold int      // number of witnesses that are required; 0 requires none
	Keys      []string // IDs of the accepted keys; if both Keys and Groups are empty, every trusted witness is accepted

	// Groups are nested quorums, each of which counts as one witness if it is met. Only a quorum of
	// cosigners for checkpoints may have groups (C2SP tlog-policy).
	Groups []Quorum
}

// met reports whether the given IDs include enough witnesses.
func (q *Quorum) met(ids []string) bool { return q.count(ids) >= q.Threshold }

func (q *Quorum) count(ids []string) (n int) {
	for _, id := range ids {
		if len(q.Keys) == 0 && len(q.Groups) == 0 || slices.Contains(q.Keys, id) {
			n++
		}
	}
	for i := range q.Groups {
		if q.Groups[i].met(ids) {
			n++
		}
	}
	return n
}

// members returns the IDs of all accepted keys, including those in groups.
func (q *Quorum) members() []string {
	ids := slices.Clone(q.Keys)
	for i := range q.Groups {
		ids = append(ids, q.Groups[i].members()...)
	}
	return ids
}

func (q Quorum) clone() Quorum {
	q.Keys, q.Groups = slices.Clone(q.Keys), slices.Clone(q.Groups)
	for i, g := range q.Groups {
		q.Groups[i] = g.clone()
	}
	return q
}

func (q *Quorum) validate(who string) error {
	for i := range q.Groups {
		if err := q.Groups[i].validate(who); err != nil {
			return err
		}
		if q.Groups[i].Threshold == 0 || len(q.Groups[i].members()) == 0 {
			return fmt.Errorf("receipt: a group of %s has a threshold of at least 1 and names its keys", who)
		}
	}
	switch {
	case q.Threshold < 0:
		return fmt.Errorf("receipt: the threshold of %s must be at least 1, found %d", who, q.Threshold)
	case q.Threshold == 0 && len(q.Keys)+len(q.Groups) > 0:
		return fmt.Errorf("receipt: %s are named, but the threshold is 0", who)
	case len(q.Keys)+len(q.Groups) > 0 && q.Threshold > len(q.Keys)+len(q.Groups):
		return fmt.Errorf("receipt: %d %s are required, but only %d are named", q.Threshold, who, len(q.Keys)+len(q.Groups))
	}
	return nil
}

func (q *Quorum) admits(id string) bool {
	ids := q.members()
	return len(ids) == 0 || slices.Contains(ids, id)
}

// reachable returns an error if there are not enough trusted keys that can be witnesses. In that
// case, every receipt would be undecided for a reason that senders of receipts cannot change. Keys
// can be counted only if the trust is a [LogTrust].
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

// cannotCosign returns the reason why a key cannot create cosignatures, or "" if it can.
func cannotCosign(k NoteKey) string {
	_, err := k.witness()
	switch {
	case err == nil:
		return ""
	case errors.As(err, new(*tlog.NameError)):
		return "has a name that no note allows"
	}
	return "is for " + k.Algorithm + ", and checkpoints are cosigned with keys for ed25519 and ML-DSA-44"
}

// reachable counts the trusted keys that can be witnesses, by distinct key material. unfit returns
// the reason why a key can never be a witness.
func (q *Quorum) reachable(who, issuer string, keys []NoteKey, unfit func(NoteKey) string) error {
	if q.Threshold == 0 {
		return nil
	}

	// If the policy lists no witnesses, every trusted witness is accepted.
	byID, material := map[string]NoteKey{}, map[[32]byte]string{}
	ids := q.members()
	open := len(ids) == 0
	for _, k := range keys {
		if byID[k.ID] = k; open && k.Has(RoleWitness) {
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

		// A key with two IDs is only one witness, and an issuer cannot witness its own receipts.
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

	if q.met(slices.Collect(maps.Values(material))) {
		return nil
	}
	if len(why) == 0 {
		why = append(why, "no other trusted key has the role witness")
	}
	return fmt.Errorf("receipt: the policy can never be met: the threshold of %s is %d, but only %d of the trusted keys can count: %s",
		who, q.Threshold, len(material), strings.Join(why, "; "))
}

// A Role is a purpose for which a trusted key may be used.
type Role string

const (
	// RoleIssuer allows a key to sign for the issuers that it lists.
	RoleIssuer Role = "issuer"
	// RoleWitness allows a key to countersign the receipts of any issuer.
	RoleWitness Role = "witness"
	// RoleCheckpoint allows a key to sign the checkpoints of a receipt log.
	RoleCheckpoint Role = "checkpoint"
)

// A TrustSource supplies trusted keys that may change or may be unavailable, such as a database of
// keys. It must be safe for concurrent use.
type TrustSource interface {
	// Trust returns the current keys, which must not change afterward, and a version of up to 128
	// bytes, such as a digest. Summaries contain the version to identify the keys.
	Trust(ctx context.Context) (keys Trust, version string, err error)
}

// A snapshot describes the keys that a verifier has obtained from a source.
type snapshot struct {
	version string
	err     error // reason why there are no keys
}

// NewSnapshot returns a Verifier that uses the keys that source currently supplies. The keys of a
// Verifier never change. If a run uses a single snapshot, all receipts are verified with the same
// keys.
//
// If source returns an error, the Verifier has no keys, and [Verifier.Snapshot] returns the error.
// Every result that depends on keys is then undecided, with the code trust_unavailable. Reports do
// not contain the text of the error, because it may contain internal information. NewSnapshot
// itself returns an error only if [NewVerifier] does or if the version is longer than 128 bytes. If
// the policy requires only integrity, keys are not requested from the source.
func NewSnapshot(ctx context.Context, source TrustSource, policy Policy) (*Verifier, error) {
	if policy.IntegrityOnly {
		return NewVerifier(nil, policy)
	}
	keys, version, err := source.Trust(ctx)
	switch {
	// The keys may become available later, so their absence refutes nothing.
	case err != nil:
		keys, version = unavailable{}, ""
	case len(version) > 128:
		return nil, fmt.Errorf("receipt: the version of the trusted keys has %d bytes, at most 128 are allowed", len(version))
	}

	v, invalid := NewVerifier(keys, policy)
	if invalid != nil {
		return nil, invalid
	}
	v.from = snapshot{version, err}
	return v, nil
}

// unavailable is the trust of a verifier whose key source has failed.
type unavailable struct{}

const trustUnavailable = "the trusted keys could not be read"

func (unavailable) Len() int { return 1 } // the actual number is not known
func (unavailable) CheckSignature([]byte, *Entry) (*Key, *SignatureError) {
	return nil, &SignatureError{CodeTrustUnavailable, trustUnavailable}
}
func (u unavailable) CheckRaw([]byte, *ForeignSignature) (*Key, *SignatureError) {
	return u.CheckSignature(nil, nil)
}

// Trust checks the form and the mathematical validity of a signature entry. The [Policy] determines
// whether the key may sign for the issuer, at the relevant time, and in the required role. Package
// keys implements Trust with keys from a JWK Set file.
//
// An implementation must be safe for concurrent use. It must use only keys from its own
// configuration, and never keys from a receipt or from the network.
type Trust interface {
	// CheckSignature checks the signature e of message. The message is either the 71 ASCII bytes of
	// chain.receipt_hash or the message of a DSSE envelope, which begins with "DSSEv1 " and
	// contains a receipt or a stream statement. A DSSE envelope does not name an algorithm.
	// CheckSignature checks the following conditions in this order, and stops at the first one that
	// is true: the algorithm is not supported, the value is malformed, the key is unknown, the
	// algorithm does not match the key, the signature is invalid.
	//
	// The result is the trusted key that the entry identifies, or nil if the key is unknown. The
	// key is returned even if there is an error. If the error is nil, the signature is
	// mathematically valid under that key.
	CheckSignature(message []byte, e *Entry) (*Key, *SignatureError)

	// Len returns the number of trusted keys.
	Len() int
}

// LogTrust is a [Trust] that can list its keys. [Verifier.With] uses the keys of logs and witnesses
// to open checkpoints. A [Verifier] uses all keys to recognize the same key material under other
// IDs. With any other Trust, the keys of all logs are unknown.
type LogTrust interface {
	Trust

	// NoteKeys returns all trusted keys, regardless of their roles. A key with the role checkpoint
	// signs checkpoints whose origin is the key's Origin. A key with the role witness cosigns
	// checkpoints under the name in its Origin or, if Origin is empty, under its ID. If that name
	// is not valid in a note, the key cannot cosign. Keys with the role issuer are included, so
	// that a witness with the key material of an issuer is detected.
	NoteKeys() []NoteKey
}

// A NoteKey is a trusted key. Only an Ed25519 or ML-DSA-44 key can sign notes.
type NoteKey struct {
	*Key
	Public crypto.PublicKey // the caller must not modify the key
}

// log returns the key as the note key of a log, or nil if it does not sign checkpoints.
func (k *NoteKey) log() *tlog.Log {
	if !k.Has(RoleCheckpoint) || k.Origin == "" {
		return nil
	}
	log, _ := tlog.NewLog(k.Origin, k.Public)
	return log
}

// witness returns the key as the note key of a witness.
func (k *NoteKey) witness() (*tlog.Witness, error) {
	return tlog.NewWitness(cmp.Or(k.Origin, k.ID), k.Public)
}

// An Entry is an element of /signatures, as received. An implementation of Trust must not retain
// it, because its slices alias the document and the next entry overwrites it. SignedAt is nil if
// the member is absent.
type Entry struct {
	KeyID, Algorithm, Signature, SignedAt []byte

	// Plain is a copy of [Policy.Plain] and is not part of the element. If Plain is set, a Trust
	// must not use a fast path. A fast path must have the same results.
	Plain bool
}

// A SignatureError describes why a signature entry does not count. Its Code is
// unsupported_algorithm, unknown_key, or trust_unavailable if evidence is missing, and
// malformed_signature, algorithm_mismatch, or signature_invalid if the entry refutes the receipt.
// An entry with any other code is reported as unknown_key.
type SignatureError struct {
	Code   Code
	Detail string
}

// Error returns the code and the detail.
func (e *SignatureError) Error() string { return string(e.Code) + ": " + e.Detail }

// judges reports whether a [Trust] is allowed to return the code of this error. No other code means
// that a signature is invalid.
func (e *SignatureError) judges() bool {
	if e == nil {
		return false
	}

	switch e.Code {
	case CodeUnsupportedAlgorithm, CodeUnknownKey, CodeTrustUnavailable, CodeMalformedSignature, CodeAlgorithmMismatch, CodeSignatureInvalid:
		return true
	}
	return false
}

// A Key contains the information about a trusted key that a policy needs.
type Key struct {
	ID        string
	Algorithm string   // "ed25519" (which also accepts "EdDSA") or a JOSE name, such as "ES256"
	Issuers   []string // if empty, the key may sign only for the issuer that the policy requires
	Roles     []Role   // empty: issuer
	Origin    string   // name of the log, for a checkpoint key

	NotBefore, NotAfter time.Time // valid if NotBefore ≤ t < NotAfter; zero means no bound

	// Revoked is the revocation of the key, or nil. A revocation with any reason other than
	// "superseded" applies to the key material, so a Trust must return it for every ID with that
	// material.
	Revoked *Revocation

	// Thumbprint is the SHA-256 JWK thumbprint (RFC 7638). Keys with the same thumbprint have the
	// same key material, regardless of their IDs.
	Thumbprint [32]byte
}

// Has reports whether the key has the given role.
func (k *Key) Has(r Role) bool {
	if len(k.Roles) == 0 {
		return r == RoleIssuer
	}
	return slices.Contains(k.Roles, r)
}

// speaksFor reports whether the key lists the issuer, or lists no issuers and may sign for the
// issuer that a policy requires.
func (k *Key) speaksFor(issuer string) bool {
	return k.Has(RoleIssuer) && (len(k.Issuers) == 0 || slices.Contains(k.Issuers, issuer))
}

// ReasonSuperseded is the only reason for a revocation after which earlier signatures remain valid.
const ReasonSuperseded = "superseded"

// A Revocation ends the validity of a key. If the reason is "superseded", signatures from before At
// remain valid, as if At were an expiry time. If the revocation has any other reason (including
// "compromised") or no reason, no time stated in a receipt can be trusted, so every signature by
// the key is rejected.
type Revocation struct {
	At     time.Time
	Reason string
}

// A Signature is an element of /signatures.
type Signature struct {
	KeyID     string `json:"key_id"`
	Algorithm string `json:"algorithm"`
	Signature string `json:"signature"`
	SignedAt  Time   `json:"signed_at,omitzero"`
}

// A Signer creates a signature entry for message, which consists of the 71 ASCII bytes of
// chain.receipt_hash. The context can limit the duration of a call to a KMS or an HSM. Package keys
// adapts a crypto.Signer.
type Signer interface {
	Sign(ctx context.Context, message []byte) (Signature, error)
}
