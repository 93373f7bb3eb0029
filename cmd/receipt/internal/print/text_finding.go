package print

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
)

// Failures groups the failed checks by step. A failed schema step has one check for each location.
func Failures(rep *receipt.Report) [][]receipt.Check {
	var groups [][]receipt.Check
	for _, c := range rep.Checks {
		if c.Status != receipt.StatusFailed {
			continue
		}
		if n := len(groups); n > 0 && groups[n-1][0].Step == c.Step {
			groups[n-1] = append(groups[n-1], c)
		} else {
			groups = append(groups, []receipt.Check{c})
		}
	}
	return groups
}

// Failed writes the failed checks of one step.
func Failed(b *Block, checks []receipt.Check) {
	c := checks[0]
	if len(checks) > 1 {
		b.Row(c.Step.String(), fmt.Sprintf("FAILED at %d places", len(checks)))
		for _, c := range checks {
			b.sub("at", placed(c))
		}
		b.sub("", checks[len(checks)-1].Hint) // number of further locations
		return
	}

	text := "FAILED"
	if c.Pointer != "" {
		text += " at " + c.Pointer
	}

	b.Row(c.Step.String(), text)
	if named := c.Predecessor(); named != "" {
		b.sub("names", named)
		if connected(c) {
			b.sub("connected", "up to "+c.Related.String())
		}
		return
	}

	// Two values that should be equal are printed below each other.
	if !computed(c) {
		b.sub("found", c.Detail)
		return
	}
	b.sub("stated", c.Stated)
	b.sub("computed", c.Computed)
}

// connected reports whether the receipts before a gap are known. The related receipt is the last of
// these receipts.
func connected(c receipt.Check) bool {
	return c.Cause == receipt.CausePredecessorMissing && c.Related != receipt.Place{}
}

// computed reports whether a check is best described by its stated and computed values. For some
// codes, Computed is a requirement.
func computed(c receipt.Check) bool {
	return c.Stated != "" && c.Computed != "" && c.Code != receipt.CodeIssuerMismatch && c.Code != receipt.CodeNotAttested
}

// placed returns the detail of a check, preceded by its pointer if it has one.
func placed(c receipt.Check) string {
	if c.Pointer == "" {
		return c.Detail
	}
	return c.Pointer + ": " + c.Detail
}

// ofAttestation reports whether a finding concerns the signature of the attestation around a
// receipt. The codes are the same as for signatures in the receipt.
func ofAttestation(f receipt.Check) bool {
	return strings.HasPrefix(f.Pointer, "/dsseEnvelope/signatures") && (f.Code == receipt.CodeSignatureInvalid || f.Code == receipt.CodeMalformedSignature)
}

func meaning(rep *receipt.Report, f receipt.Check) string {
	if ofAttestation(f) {
		return "the signature of the attestation that contains the receipt is invalid; this is not one of the receipt's own signatures"
	}

	// A signature covers the stated hash, so it shows whether the content or the stated hash is
	// incorrect.
	if by := signer(rep); f.Code == receipt.CodeHashMismatch && by != "" {
		if f.Hint != "" { // the hash was computed by another rule
			return by + " signed the stated hash, which was not computed by the rule of the format: the issuer's software is at fault, and it is unknown whether the content changed"
		}
		return by + " signed the stated hash: the content changed after signing"
	}

	// An invalid link does not mean that the content of the receipt is invalid.
	if f.Step == receipt.StepLink && rep.Check(receipt.StepHash).Status == receipt.StatusPassed {
		if text := linkMeaning(f); text != "" {
			return filepath.Base(rep.Address()) + " is " + intact(rep) + "; " + text
		}
	}
	info, _ := receipt.Lookup(f.Code)
	return info.Meaning
}

func intact(rep *receipt.Report) string {
	if rep.Check(receipt.StepSignatures).Status == receipt.StatusPassed {
		return "intact and signed"
	}
	return "intact"
}

// linkMeaning describes what an invalid link means for a receipt with intact content. It returns ""
// if the description of the code is sufficient.
func linkMeaning(f receipt.Check) string {
	switch f.Code {
	case receipt.CodeDuplicateID:
		return "two receipts have the same receipt_id, and at most one of them is correct"
	case receipt.CodeChainFork:
		return "two receipts have the same predecessor, and at most one of them is correct"
	}

	const order = "the receipts are not in the order of their chain"
	return map[receipt.Cause]string{
		"predecessor_missing":   "at least one receipt before it is missing",
		"predecessor_other":     "it does not follow the receipt before it: at least one is missing, was replaced, or is out of order",
		"predecessor_not_given": "it does not follow the given predecessor",
		"predecessor_elsewhere": "it follows a receipt of another stream",
		"predecessor_later":     order,
		"comes_earlier":         order,
		"named_earlier":         order,
		"second_first":          "two receipts state that they are the first of their stream",
	}[f.Cause]
}

// coded formats a code. If several faults share the code, it adds the name of the fault.
func coded(code receipt.Code, cause receipt.Cause) string {
	if fault := headline.Fault(cause); fault != "" {
		return fmt.Sprintf("%s (%s)", code, fault)
	}
	return string(code)
}

// signer returns the ID of the issuer's signing key, or "" if the issuer did not sign.
func signer(rep *receipt.Report) string {
	for _, s := range rep.Signatures {
		if s.Role == receipt.RoleIssuer {
			return s.KeyID
		}
	}
	return ""
}

// otherThanReceipt returns the kind of a document that does not have the form of a receipt, such as
// a draft. It returns the zero value for an invalid receipt and for a document of an unknown kind.
func otherThanReceipt(f receipt.Check, doc *canon.Document) kind.Found {
	if f.Step != receipt.StepSchema {
		return kind.Found{}
	}
	return kind.Of(doc.Root().Raw(), true)
}

// unknownKey returns the first key ID in a signature that the key file does not contain, or "".
func unknownKey(rep *receipt.Report) string {
	for _, s := range rep.Signatures {
		if s.Code == receipt.CodeUnknownKey {
			return s.KeyID
		}
	}
	return ""
}
