package receipt

import (
	"fmt"
	"slices"
)

// decide records the step.
func (t *tally) decide(hashHolds bool) {
	t.notes()
	if c, refutes, met := t.policy(); refutes {
		t.rep.fail(c)
	} else if !met {
		t.rep.skip(StepSignatures, c.Code, c.Detail)
		last := &t.rep.Checks[len(t.rep.Checks)-1]
		last.Pointer, last.Hint = c.Pointer, c.Hint
	} else if !hashHolds {
		// The signatures are over the stated hash, which is not this content's.
		t.rep.skip(StepSignatures, CodeStepNotReached, t.signers()+" signed the stated hash, which is not the hash of this content")
	} else {
		t.rep.pass(StepSignatures)
	}
}

// policy weighs the whole: what refutes comes first, then whether the issuer
// signed, then whether enough witnesses did.
func (t *tally) policy() (why Check, refutes, met bool) {
	if expected := t.v.policy.Issuer; expected != "" && expected != string(t.issuer) {
		return Check{Step: StepSignatures, Code: CodeIssuerMismatch, Pointer: "/issuer/id", Stated: excerpt(t.issuer), Computed: expected,
			Detail: fmt.Sprintf("the receipt is by %s, asked for was %s", quoted(excerpt(t.issuer)), quoted(expected))}, true, false
	}
	if t.refuting.Code != "" {
		return t.refuting, true, false
	}
	if t.total > MaxSignatures { // the rest could meet the policy, or refute
		return Check{Code: CodeSignatureLimit, Pointer: "/signatures",
			Detail: fmt.Sprintf("%d signatures; the first %d were examined", t.total, MaxSignatures)}, false, false
	}
	if !t.issued {
		if t.uncounted.Code != "" {
			return t.uncounted, true, false
		}
		return t.missing(), false, false
	}
	quorum := t.v.policy.Witnesses.Threshold
	counted := distinct(t.counted, t.issuers)
	if counted < quorum {
		if counted+distinct(t.rejected, t.issuers, t.counted) >= quorum {
			return t.why, true, false
		}
		return Check{Code: CodeThresholdNotMet, Pointer: "/signatures",
			Detail: fmt.Sprintf("%d of %d witnesses signed", counted, quorum)}, false, false
	}
	return Check{}, false, true
}

// missing says why no signature of the issuer counts, though none is false.
func (t *tally) missing() Check {
	switch {
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

// distinct counts the material that is in none of the others.
func distinct(material [][32]byte, others ...[][32]byte) (n int) {
	for _, m := range material {
		if !slices.ContainsFunc(others, func(o [][32]byte) bool { return slices.Contains(o, m) }) {
			n++
		}
	}
	return n
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
			"key_id, algorithm and signed_at lie outside the hash; only a JWS protects them"})
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

func addMaterial(list [][32]byte, material [32]byte) [][32]byte {
	if slices.Contains(list, material) {
		return list
	}
	return append(list, material)
}
