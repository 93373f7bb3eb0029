package receipt

import (
	"fmt"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
)

// checkSignatures judges every entry of /signatures and then the policy.
// Entries that are false refute. Entries that cannot be checked never decide.
// Entries that are true but do not count (expired, revoked, for another issuer)
// refute only when the policy is thereby unmet.
func (v *Verifier) checkSignatures(root canon.Node, schemaHolds, hashHolds bool, rep *Report) {
	switch {
	case v.policy.IntegrityOnly:
		rep.skip(StepSignatures, CodeSignaturesNotChecked, "signatures: only integrity was asked for")
		return
	case !schemaHolds:
		rep.skip(StepSignatures, CodeStepNotReached, "signatures: the receipt does not fit its schema")
		return
	}
	t := v.tally(root, rep)
	for i, n := range root.Member("signatures").Elements() {
		if t.total++; i < MaxSignatures {
			t.add(i, n)
		}
	}
	t.stand()
	t.decide(hashHolds)
	t.clear()
}

// A tally counts the signatures of one receipt. The Report keeps it, so that
// the next receipt needs no new memory.
type tally struct {
	v       *Verifier
	rep     *Report
	message []byte    // the text of chain.receipt_hash
	issuer  []byte    // issuer.id
	named   []byte    // issuer.public_key_id; nil when absent
	at      time.Time // the time at which keys are judged
	total   int       // entries of /signatures
	entry   Entry     // the one in hand

	refuting   Check // the first entry that is false or malformed
	unknowable Check // the first entry that could not be checked
	uncounted  Check // the first signature that would have met the policy if it counted
	unbound    Check // the first valid signature of a key bound to no issuer
	other      bool  // keys signed that are not the one that the receipt names
	issued     bool  // the issuer signed
	witnessed  bool  // a witness signed, whether it counts or not

	included []*checkpoint // of the evidence that include the receipt and carry a signature of their log

	issuers  [][32]byte // material of the keys that spoke for the issuer
	counted  [][32]byte // material of witnesses whose signatures count
	rejected [][32]byte // material of witnesses whose signatures do not
	why      Check      // the first of the rejected
}

func (v *Verifier) tally(root canon.Node, rep *Report) *tally {
	issuer := root.Member("issuer")
	if rep.tally == nil {
		rep.tally = new(tally)
	}
	t := rep.tally
	t.v, t.rep = v, rep
	t.message = root.Member("chain").Member("receipt_hash").Text()
	t.issuer = issuer.Member("id").Text()
	t.named = issuer.Member("public_key_id").Text()
	t.at = v.policy.At
	if t.at.IsZero() {
		t.at, _ = ParseTime(root.Member("issued_at").Text()) // the schema holds
		rep.At = judgedAt(t.at)
	}
	return t
}

// clear lets go of the receipt and keeps the lists' memory.
func (t *tally) clear() {
	*t = tally{included: t.included[:0], issuers: t.issuers[:0], counted: t.counted[:0], rejected: t.rejected[:0]}
}

func (t *tally) add(i int, n canon.Node) {
	t.entry = Entry{
		KeyID:     n.Member("key_id").Text(),
		Algorithm: n.Member("algorithm").Text(),
		Signature: n.Member("signature").Text(),
		SignedAt:  n.Member("signed_at").Text(),
		Plain:     t.v.policy.Plain,
	}
	key, err := t.v.trust.CheckSignature(t.message, &t.entry)
	result := SignatureResult{Status: SignatureValid, Algorithm: algorithmName(t.entry.Algorithm)}
	if key != nil {
		result.KeyID = key.ID
	} else {
		result.KeyID = cut(t.entry.KeyID, 256)
	}
	switch {
	case err == nil && key != nil:
		t.weigh(i, key, &result)
	case !err.judges(): // a Trust that breaks its promise says nothing of the receipt
		err = &SignatureError{CodeUnknownKey, "the trusted keys gave no judgement of the signature"}
		fallthrough
	case err.Code == CodeUnknownKey || err.Code == CodeUnsupportedAlgorithm:
		result.Status, result.Code, result.Detail = SignatureNotChecked, err.Code, err.Detail
		first(&t.unknowable, t.check(i, err.Code, err.Detail))
	default:
		result.Status, result.Code, result.Detail = SignatureInvalid, err.Code, err.Detail
		first(&t.refuting, t.check(i, err.Code, err.Detail))
	}
	t.rep.Signatures = append(t.rep.Signatures, result)
}

// weigh decides what a mathematically valid signature counts as.
func (t *tally) weigh(i int, key *Key, result *SignatureResult) {
	code := t.speaks(key)
	if code != "" && key.Has(RoleWitness) {
		t.weighWitness(i, key, result)
		if code == CodeIssuerUnbound || string(t.named) == key.ID {
			t.discount(i, key, code) // it could, or should, be the issuer's
		}
		return
	}
	if code == "" {
		code = t.untimely(key)
	}
	switch {
	case code != "":
		result.Status, result.Code, result.Detail = SignatureInvalid, code, t.discount(i, key, code)
		if code == CodeIssuerUnbound {
			result.Status = SignatureNotChecked
		}
	case t.named == nil || string(t.named) == key.ID:
		result.Role = RoleIssuer
		t.issuers, t.issued = append(t.issuers, key.Thumbprint), true
	default:
		result.Role = RoleIssuer
		t.issuers, t.other = append(t.issuers, key.Thumbprint), true
	}
}

// discount keeps why a valid signature does not count as the issuer's, if it
// would have met the policy otherwise. It returns the reason in words.
func (t *tally) discount(i int, key *Key, code Code) (detail string) {
	detail = t.discounted(key, code)
	switch {
	case t.named != nil && string(t.named) != key.ID:
		t.other = true
	case code == CodeIssuerUnbound:
		first(&t.unbound, t.check(i, code, detail))
	default:
		first(&t.uncounted, t.check(i, code, detail))
	}
	return detail
}

// weighWitness counts a witness's signature. One that does not count refutes when
// it would have been enough; of a witness that the policy does not name it would
// not, whatever its key.
func (t *tally) weighWitness(i int, key *Key, result *SignatureResult) {
	t.witnessed = true
	if !t.v.policy.Witnesses.admits(key.ID) {
		result.Status, result.Code = SignatureInvalid, CodeRoleMismatch
		result.Detail = fmt.Sprintf("%s is not one of the witnesses that the policy names", quoted(key.ID))
		return
	}
	code := t.untimely(key)
	if code == "" {
		result.Role = RoleWitness
		t.counted = addMaterial(t.counted, key.Thumbprint)
		return
	}
	result.Status, result.Code, result.Detail = SignatureInvalid, code, t.discounted(key, code)
	t.rejected = addMaterial(t.rejected, key.Thumbprint)
	first(&t.why, t.check(i, code, result.Detail))
}

// speaks reports why a key may not speak for the receipt's issuer: "", that it
// is no issuer's key, bound to others, or bound to nobody.
func (t *tally) speaks(key *Key) Code {
	if !key.Has(RoleIssuer) {
		return CodeRoleMismatch
	}
	if len(key.Issuers) == 0 {
		if t.v.policy.Issuer == "" {
			return CodeIssuerUnbound
		}
		if t.v.policy.Issuer != string(t.issuer) {
			return CodeIssuerMismatch
		}
		return ""
	}
	for _, id := range key.Issuers {
		if id == string(t.issuer) {
			return ""
		}
	}
	return CodeIssuerMismatch
}

// untimely reports why a key does not count at the time in question. That it was
// stolen later does not matter for a receipt that is older than that.
func (t *tally) untimely(key *Key) Code {
	return untimely(key, t.at, slices.ContainsFunc(t.included, func(c *checkpoint) bool {
		return t.predates(c, key) && t.trusts(c)
	}))
}

// untimely is the rule of a key's validity: expiry and "superseded" are judged at
// a time; any other revocation refuses the key at every time, unless something
// shows that what it signed is older.
func untimely(key *Key, at time.Time, older bool) Code {
	switch r := key.Revoked; {
	case r != nil && r.Reason == ReasonSuperseded && !at.Before(r.At):
		return CodeKeyRevoked
	case r != nil && r.Reason != ReasonSuperseded && !older:
		return CodeKeyRevoked
	case !key.NotBefore.IsZero() && at.Before(key.NotBefore):
		return CodeKeyNotYetValid
	case !key.NotAfter.IsZero() && !at.Before(key.NotAfter):
		return CodeKeyExpired
	}
	return ""
}
