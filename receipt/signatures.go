package receipt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// A signatureStep performs the step [StepSignatures].
type signatureStep struct{ *Verifier }

// check checks all entries of /signatures and then applies the policy. Invalid entries refute.
// Entries that cannot be checked have no effect on the result. Valid entries that do not count
// (because a key is expired, revoked, or for another issuer) refute the receipt only if the policy
// is not met without them.
func (s signatureStep) check(root canon.Node, schemaHolds, hashHolds bool, rep *Report) {
	switch {
	case s.policy.IntegrityOnly:
		rep.omit(StepSignatures, CodeSignaturesNotChecked, "signatures: only integrity was asked for")
		return
	case !schemaHolds:
		rep.omit(StepSignatures, CodeStepNotReached, "signatures: the receipt does not fit its schema")
		return
	}

	// Entries beyond the limit are counted but not examined, and the step then remains undecided.
	t := s.tally(root, rep)
	for i, n := range root.Member("signatures").Elements() {
		if t.total++; i < maxSignatures {
			t.add(i, n)
		}
	}

	// A checkpoint may count as a signature, so checkpoints are evaluated before the result is
	// determined.
	t.stand()
	t.decide(hashHolds)
	t.clear()
}

// A tally counts the signatures of a receipt, using the decisions of its judge. The Report keeps
// the tally, so that no memory is allocated for the next receipt.
type tally struct {
	judge
	trust   Trust
	rep     *Report
	message []byte // text of chain.receipt_hash
	named   []byte // issuer.public_key_id, or nil if it is absent
	total   int    // entries of /signatures
	entry   Entry  // the current entry

	refuting   Check // the first entry that is invalid or malformed
	unknowable Check // the first entry that could not be checked
	uncounted  Check // the first signature that would satisfy the policy if it counted
	unbound    Check // the first valid signature by a key that is bound to no issuer
	other      bool  // a key other than the one that the receipt names has signed
	issued     bool  // the issuer signed
	witnessed  bool  // a witness has signed, regardless of whether the signature counts

	issuers  [][32]byte // material of keys that may sign for the issuer
	counted  [][32]byte // material of witnesses whose signatures count
	rejected [][32]byte // material of witnesses whose signatures do not count
	why      Check      // reason for the first entry of rejected
	others   []string   // reasons why signatures by other witnesses can never count
}

// tally returns the tally of the report, prepared for a new receipt.
func (s signatureStep) tally(root canon.Node, rep *Report) *tally {
	issuer := root.Member("issuer")
	if rep.tally == nil {
		rep.tally = new(tally)
	}

	t := rep.tally
	t.policy, t.trust, t.rep, t.kin = &s.policy, s.trust, rep, s.kin
	t.message = root.Member("chain").Member("receipt_hash").Text()
	t.issuer, t.existed = issuer.Member("id").Text(), rep.Existed.Time.Time
	t.named = issuer.Member("public_key_id").Text()

	// Keys must be valid at the time in the policy or else at issued_at, which the hash covers.
	t.at = s.policy.At
	if t.at.IsZero() {
		t.at, _ = ParseTime(root.Member("issued_at").Text()) // the schema matches
		rep.At = judgedAt(t.at)
		t.undated = ReadUnreported(root).Has("/issued_at")
	}

	return t
}

// clear removes references to the receipt, but keeps the memory of the lists.
func (t *tally) clear() {
	*t = tally{judge: judge{included: t.included[:0]}, issuers: t.issuers[:0], counted: t.counted[:0], rejected: t.rejected[:0], others: t.others[:0]}
}

func (t *tally) add(i int, n canon.Node) {
	t.entry = Entry{
		KeyID:     n.Member("key_id").Text(),
		Algorithm: n.Member("algorithm").Text(),
		Signature: n.Member("signature").Text(),
		SignedAt:  n.Member("signed_at").Text(),
		Plain:     t.policy.Plain,
	}

	// A Trust checks only the form and the mathematical validity of signatures. The judge
	// determines which keys may sign for the issuer, and when.
	key, err := t.trust.CheckSignature(t.message, &t.entry)
	result := SignatureResult{Status: SignatureValid, Algorithm: algorithmName(t.entry.Algorithm)}
	if key != nil {
		result.KeyID = key.ID
	} else {
		result.KeyID = untrusted.Cut(t.entry.KeyID, 256)
	}

	// If the key or the algorithm is unknown, evidence is missing, but nothing is shown to be
	// invalid.
	switch {
	case err == nil && key != nil:
		t.weigh(i, key, &result)
	case !err.judges(): // an error that a Trust is not allowed to return proves nothing about the receipt
		err = &SignatureError{CodeUnknownKey, "the trusted keys gave no judgement of the signature"}
		fallthrough
	case err.Code == CodeUnknownKey || err.Code == CodeTrustUnavailable || err.Code == CodeUnsupportedAlgorithm:
		result.Status, result.Code, result.Detail = SignatureNotChecked, err.Code, err.Detail
		first(&t.unknowable, t.check(i, err.Code, err.Detail))
	default:
		result.Status, result.Code, result.Detail = SignatureInvalid, err.Code, err.Detail
		first(&t.refuting, t.check(i, err.Code, err.Detail))
	}

	t.rep.Signatures = append(t.rep.Signatures, result)
}

// weigh classifies a mathematically valid signature.
func (t *tally) weigh(i int, key *Key, result *SignatureResult) {
	code := t.speaks(key)
	if code != "" && key.Has(RoleWitness) {
		t.weighWitness(i, key, result)
		if code == CodeIssuerUnbound || string(t.named) == key.ID {
			t.discount(i, key, code) // the signature may be, or should be, a signature by the issuer
		}
		return
	}

	// Validity at the relevant time matters only if the key may sign for the issuer at all.
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

// discount records why a valid signature does not count as a signature by the issuer. It does this
// only if the signature would have satisfied the policy. It returns the reason as text.
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

// weighWitness counts the signature of a witness. If the only reason why the policy is not met is
// that a signature does not count, that signature refutes the receipt. A signature by a witness
// that the policy does not list can never satisfy the policy, regardless of whether its key is
// valid.
func (t *tally) weighWitness(i int, key *Key, result *SignatureResult) {
	t.witnessed = true
	if why := t.noWitness(key); why != "" {
		result.Status, result.Code, result.Detail = SignatureInvalid, CodeRoleMismatch, why
		t.others = append(t.others, why)
		return
	}

	// Signatures with expired or revoked keys are counted separately. If these signatures would be
	// enough to satisfy the policy, they refute the receipt, which would otherwise be undecided for
	// lack of evidence.
	code := t.untimely(key)
	if code == "" {
		result.Role = RoleWitness
		t.counted = append(t.counted, key.Thumbprint) // noWitness refuses material that is in the list
		return
	}

	result.Status, result.Code, result.Detail = SignatureInvalid, code, t.discounted(key, code)
	if !slices.Contains(t.rejected, key.Thumbprint) {
		t.rejected = append(t.rejected, key.Thumbprint)
	}
	first(&t.why, t.check(i, code, result.Detail))
}

// noWitness returns the reason why a signature by a key can never count as the signature of a
// witness, or "" if it can. Witnesses are counted by key material, not by ID: a key with two IDs is
// one witness, and a key of the issuer is not a witness.
func (t *tally) noWitness(key *Key) string {
	switch {
	case !t.policy.Witnesses.admits(key.ID):
		return quoted(key.ID) + " is not one of the witnesses that the policy names"
	case t.isIssuers(key):
		return quoted(key.ID) + " is a key of the issuer, which is not its own witness"
	case slices.Contains(t.counted, key.Thumbprint):
		return quoted(key.ID) + " is the same key as that of another signature, and counts once"
	}
	return ""
}

// stand counts a checkpoint as a signature. The key of the checkpoint must have both roles and be
// allowed to sign for the issuer of the receipt. If the receipt names a key, the checkpoint's key
// must be that key. A checkpoint of any other log shows that the receipt was included, but not who
// issued it. The first checkpoint that counts is reported.
func (t *tally) stand() {
	var best SignatureResult
	var why *Key
	for _, c := range t.included {
		for _, key := range c.logs {
			if t.named != nil && string(t.named) != key.ID {
				continue
			}
			code := t.speaks(key)
			if code == CodeRoleMismatch || code == CodeIssuerMismatch {
				continue
			}
			if code == "" { // a log signature whose age is shown only by this checkpoint
				code = untimely(key, t.at, t.predates(c, key))
			}

			// A checkpoint that counts takes precedence over reasons why other checkpoints do not.
			if best.Algorithm != "" && code != "" {
				continue
			}
			best = SignatureResult{KeyID: key.ID, Algorithm: algorithmCheckpoint, Code: code}
			why = key
			if code == "" {
				t.stands(best, key)
				return
			}
		}
	}

	if why != nil {
		t.fallsShort(best, why)
	}
}

func (t *tally) stands(result SignatureResult, key *Key) {
	result.Status, result.Role = SignatureValid, RoleIssuer
	t.issuers, t.issued = append(t.issuers, key.Thumbprint), true
	t.rep.Signatures = append(t.rep.Signatures, result)
}

// fallsShort records a checkpoint that would count as a signature if its key counted. The effect is
// the same as for a signature whose key does not count.
func (t *tally) fallsShort(result SignatureResult, key *Key) {
	result.Status, result.Detail = SignatureInvalid, fmt.Sprintf("checkpoint of %s: %s", quoted(excerpt([]byte(key.Origin))), t.discounted(key, result.Code))

	why := Check{Step: StepSignatures, Code: result.Code, Detail: result.Detail}
	if result.Code == CodeIssuerUnbound {
		result.Status = SignatureNotChecked
		first(&t.unbound, why)
	} else {
		first(&t.uncounted, why)
	}
	t.rep.Signatures = append(t.rep.Signatures, result)
}

// decide records the result of the step.
func (t *tally) decide(hashHolds bool) {
	t.notes()

	if c, refutes, met := t.met(); refutes {
		t.rep.fail(c)
	} else if !met {
		t.rep.skip(StepSignatures, c.Code, c.Detail)
		last := &t.rep.Checks[len(t.rep.Checks)-1]
		last.Pointer, last.Hint = c.Pointer, c.Hint
	} else if !hashHolds {
		// The signatures cover the stated hash, which is not the hash of this content.
		t.rep.skip(StepSignatures, CodeStepNotReached, t.signers()+" signed the stated hash, which is not the hash of this content")
	} else {
		t.rep.pass(StepSignatures)
	}
}

// met evaluates all signatures. It first looks for signatures that refute the receipt. It then
// checks whether the issuer has signed, and whether enough witnesses have signed.
func (t *tally) met() (why Check, refutes, met bool) {
	if expected := t.policy.Issuer; expected != "" && expected != string(t.issuer) {
		return Check{Step: StepSignatures, Code: CodeIssuerMismatch, Pointer: "/issuer/id", Stated: excerpt(t.issuer), Computed: expected,
			Detail: fmt.Sprintf("the receipt is by %s, but %s is required", quoted(excerpt(t.issuer)), quoted(expected))}, true, false
	}
	if t.refuting.Code != "" {
		return t.refuting, true, false
	}
	if t.total > maxSignatures { // the signatures that were not examined could satisfy the policy or refute the receipt
		return Check{Code: CodeSignatureLimit, Pointer: "/signatures",
			Detail: fmt.Sprintf("%d signatures; the first %d were examined", t.total, maxSignatures)}, false, false
	}

	// Witnesses do not matter if the issuer has not signed.
	if !t.issued {
		if t.uncounted.Code != "" {
			return t.uncounted, true, false
		}
		return t.missing(), false, false
	}

	// Key material of the issuer never counts as a witness's, even under another ID.
	quorum := t.policy.Witnesses.Threshold
	counted := distinct(t.counted, t.issuers)
	if counted < quorum {
		if counted+distinct(t.rejected, t.issuers, t.counted) >= quorum {
			return t.why, true, false
		}
		return Check{Code: CodeThresholdNotMet, Pointer: "/signatures",
			Detail: fmt.Sprintf("valid witness signatures: %d, required: %d%s", counted, quorum, notCounted(t.others))}, false, false
	}

	return Check{}, false, true
}

// missing returns the reason why no signature by the issuer counts, although none is invalid.
func (t *tally) missing() Check {
	switch {
	// A key that may be a key of the issuer is reported first, because its signature may count with
	// further evidence.
	case t.unbound.Code != "":
		return t.unbound
	case t.unknowable.Code != "":
		return t.unknowable
	case t.other:
		who := "the issuer signed, but not with"
		if len(t.issuers) == 0 {
			who = "others signed, but not"
		}
		return Check{Code: CodeNamedKeyMissing, Pointer: "/issuer/public_key_id",
			Detail: fmt.Sprintf("%s %s, the key that the receipt names", who, quoted(excerpt(t.named)))}
	case t.witnessed:
		return Check{Code: CodeUnsigned, Pointer: "/signatures", Detail: "only witnesses signed, not the issuer"}
	}
	return Check{Code: CodeUnsigned, Pointer: "/signatures", Detail: "the receipt has no signature"}
}

// distinct counts the elements of material that are in none of the other lists.
func distinct(material [][32]byte, others ...[][32]byte) (n int) {
	for _, m := range material {
		if !slices.ContainsFunc(others, func(o [][32]byte) bool { return slices.Contains(o, m) }) {
			n++
		}
	}
	return n
}

// notCounted returns a list of the reasons why other signers do not count.
func notCounted(why []string) string {
	const most = 5
	switch n := len(why); {
	case n == 0:
		return ""
	case n > most:
		return fmt.Sprintf("; not counted: %s; and %d more", strings.Join(why[:most], "; "), n-most)
	}
	return "; not counted: " + strings.Join(why, "; ")
}

func (t *tally) signers() string {
	for _, s := range t.rep.Signatures {
		if s.Role == RoleIssuer {
			return quoted(s.KeyID)
		}
	}
	return "the issuer"
}

func (t *tally) notes() {
	if t.total > 0 {
		t.rep.NotChecked = append(t.rep.NotChecked, Note{CodeUnauthenticated, "/signatures",
			"key_id, algorithm, and signed_at are outside the hash; only a JWS protects them"})
	}
}

func (t *tally) check(i int, code Code, detail string) Check {
	return Check{Step: StepSignatures, Code: code, Pointer: fmt.Sprintf("/signatures/%d", i), Detail: detail}
}

func first(c *Check, found Check) {
	if c.Code == "" {
		*c = found
	}
}

// algorithmName returns the name of an algorithm, without copying it if it is a common name.
func algorithmName(name []byte) string {
	switch string(name) {
	case "ed25519":
		return "ed25519"
	case "EdDSA":
		return "EdDSA"
	case "ES256":
		return "ES256"
	}
	return excerpt(name)
}
