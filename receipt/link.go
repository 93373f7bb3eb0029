package receipt

import (
	"fmt"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
)

// A Cause distinguishes mistakes that have the same code, for use by programs. It is "" if the code
// alone is unambiguous. Causes are never renamed, but new causes may be added. If the description
// of a cause mentions the related receipt, the Related field of the check contains the place of
// that receipt.
type Cause string

// These are causes for an invalid link.
const (
	// The input does not contain the predecessor. The related receipt is the last one before the
	// gap, if there is one.
	CausePredecessorMissing Cause = "predecessor_missing"
	// The related receipt comes directly before this receipt, but this receipt names another
	// predecessor.
	CausePredecessorOther Cause = "predecessor_other"
	// The related receipt names the same predecessor.
	CausePredecessorShared Cause = "predecessor_shared"
	// The related receipt is the predecessor, but comes after this receipt in the same source.
	CausePredecessorLater Cause = "predecessor_later"
	// The related receipt is the predecessor, but belongs to another stream.
	CausePredecessorElsewhere Cause = "predecessor_elsewhere"
	// The receipt does not follow the predecessor that was supplied, whose hash is in Computed.
	CausePredecessorNotGiven Cause = "predecessor_not_given"
	// The related receipt is between this receipt and its predecessor, or it precedes the only
	// receipt that claims to be the first one.
	CauseComesEarlier Cause = "comes_earlier"
	// The related receipt comes before this receipt, but names this receipt as its predecessor.
	CauseNamedEarlier Cause = "named_earlier"
	// The receipt claims to be the first one, but the related receipt precedes it or makes the same
	// claim.
	CauseSecondFirst Cause = "second_first"
	// The link is a hash of 64 zeros, which no receipt has.
	CauseZeroHash Cause = "zero_hash"
	// The related receipt has the same receipt_id but different content.
	CauseIDTaken Cause = "id_taken"
)

// These are causes for a link that was not checked.
const (
	// The content of the receipt does not match its hash, so its position proves nothing.
	CauseOwnHash Cause = "own_hash"
	// The predecessor may be a document that could not be read. The related place is the place of
	// this document, if it is known.
	CauseUnreadable Cause = "unreadable"
	// The input is a selection that does not include the predecessor.
	CauseSelection Cause = "selection"
	// The input begins after the predecessor.
	CausePredecessorAbsent Cause = "predecessor_absent"
)

// A Place is the position of a receipt in the input.
type Place struct {
	Source string `json:"source,omitzero"` // as in [Report]; "" means the source of the report itself
	Index  int    `json:"index,omitzero"`  // line or item; 0 if the source contains no other document
}

// String returns a readable name for the place, such as "line 3", "april.json", or
// "april.ndjson:3".
func (p Place) String() string {
	switch {
	case p.Source == "":
		return "line " + strconv.Itoa(p.Index)
	case p.Index == 0:
		return p.Source
	}
	return fmt.Sprintf("%s:%d", p.Source, p.Index)
}

// Predecessor describes the predecessor to which an invalid link refers, and explains why the link
// is invalid, for example "sha256:…, which line 3 names too". It returns "" for all other checks.
func (c *Check) Predecessor() string {
	if c.Step != StepLink || c.Stated == "null" || c.about() == "" {
		return ""
	}
	return c.Stated + c.about()
}

// about returns the continuation of a sentence that ends with the name of a receipt.
func (c *Check) about() string {
	switch c.Cause {
	case CausePredecessorMissing:
		return ", which no receipt in the input has"
	case CausePredecessorOther:
		return ", " + c.related() + " is " + c.Computed
	case CausePredecessorShared:
		return ", which " + c.related() + " names too"
	case CausePredecessorLater:
		return ", which follows it, in " + c.related()
	case CausePredecessorElsewhere:
		return ", which " + c.related() + " has, a receipt of another stream"
	case CausePredecessorNotGiven:
		return ", the predecessor given is " + c.Computed
	case CauseComesEarlier:
		return ", and " + c.related() + " comes before it in the same file"
	case CauseSecondFirst:
		if c.Computed != "" {
			return ", " + c.related() + " is " + c.Computed
		}
		return ", and so does " + c.related()
	}
	return ""
}

// related returns the name of the related receipt.
func (c *Check) related() string {
	if (c.Related == Place{}) {
		return "another receipt"
	}
	return c.Related.String()
}

// word sets the detail or the reason of a check according to the cause of the check, unless either
// is already set.
func (c *Check) word() {
	if c.Detail != "" || c.Reason != "" {
		c.nameStep()
		return
	}

	switch c.Cause {
	case "":
		return
	case CauseOwnHash:
		c.Reason = "the content does not match the stated hash, so the position in the stream is unknown"
	case CauseUnreadable:
		c.Reason = "its predecessor is not in the input, which contains documents that are not readable receipts"
		if (c.Related != Place{}) {
			c.Reason = c.related() + ", which is not a readable receipt, may be its predecessor"
		}
	case CauseSelection:
		c.Reason = "its predecessor is not in the input, which is a selection"
	case CausePredecessorAbsent:
		c.Reason = "its predecessor is not in the input"
	case CauseNamedEarlier:
		c.Detail = c.related() + ", which comes before it, names it"
	case CauseIDTaken:
		c.Detail = c.related() + " has the same receipt_id, but another content"
	default:
		c.Detail = "states that nothing precedes it" + c.about()
		if names := c.Predecessor(); names != "" {
			c.Detail = "names " + names
		}
	}

	c.nameStep()

	// The last receipt before the gap is as important as the gap itself.
	if c.Cause == CausePredecessorMissing && c.Related != (Place{}) {
		c.Hint = "the receipts up to " + c.Related.String() + " are connected"
	}
}

// nameStep sets a missing detail to the name of the step, followed by the reason.
func (c *Check) nameStep() {
	if c.Detail == "" && c.Reason != "" {
		c.Detail = c.Step.String() + ": " + c.Reason
	}
}

const zeroDigest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

// checkLink checks the link using only the receipt itself. Under a strict policy, the step is not
// applicable to a receipt that claims to have no predecessor, unless another receipt contradicts
// the claim. The report lists in each case that the other receipts of the stream are unknown.
func checkLink(root canon.Node, rep *Report, strict bool) {
	previous := root.Member("chain").Member("previous_receipt_hash")
	// No receipt has a hash of all zeros, so such a link is invalid regardless of other receipts.
	if string(previous.Text()) == zeroDigest {
		rep.fail(Check{Step: StepLink, Code: CodeChainBreak, Pointer: "/chain/previous_receipt_hash", Stated: zeroDigest, Cause: CauseZeroHash,
			Detail: "64 zeros are not the hash of a receipt; the first receipt of a stream states null"})
		return
	}
	rep.omit(StepLink, CodeLinkNotChecked, "link: one receipt cannot show whether others precede or follow")
	if strict && previous.Kind() == canon.KindNull {
		rep.Checks[len(rep.Checks)-1] = Check{Step: StepLink, Status: StatusNotApplicable}
		rep.alone = true
	}
}
