package receipt

import (
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/vocab"
)

const zeroDigest = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

// checkLink judges what one receipt alone shows of its place in a stream. A strict policy
// requires that everything that applies is checked: a receipt that states that nothing
// precedes it names no predecessor, so its link holds until another receipt contradicts it.
func checkLink(root canon.Node, rep *Report, strict bool) {
	previous := root.Member("chain").Member("previous_receipt_hash")
	if string(previous.Text()) == zeroDigest {
		rep.fail(Check{Step: StepLink, Code: CodeChainBreak, Pointer: "/chain/previous_receipt_hash", Stated: zeroDigest, Cause: vocab.CauseZeroHash,
			Detail: "64 zeros are the hash of no receipt; the first receipt of a stream states null"})
		return
	}
	if strict && previous.Kind() == canon.KindNull {
		rep.pass(StepLink)
		rep.alone = true
		return
	}
	rep.omit(StepLink, CodeLinkNotChecked, "link: one receipt cannot show whether others precede or follow")
}

// Link tells a report how its receipt stands to the others of its stream, which
// the receipt alone cannot show, and draws the conclusion anew. The check's
// status is StatusPassed, StatusFailed or StatusNotChecked; a place that the receipt's own form
// refuted stays so. A check with a cause and no
// detail is worded here. Package stream calls it.
func (v *Verifier) Link(rep *Report, c Check) {
	c.Step = StepLink
	c.word()
	for i := range rep.Checks {
		found := &rep.Checks[i]
		left := found.Status == StatusNotChecked && found.Code == CodeLinkNotChecked
		if found.Step != StepLink || !left && !rep.alone {
			continue
		}
		rep.dropNote(CodeLinkNotChecked)
		rep.alone = false
		*found = c
		if c.Status == StatusNotChecked {
			rep.NotChecked = append(rep.NotChecked, Note{c.Code, c.Pointer, c.Detail})
		}
		v.conclude(rep)
		return
	}
}

// Weigh adds a finding of what the receipt alone cannot show, such as that it is not the
// replay that it claims to be, and draws the conclusion anew: StatusFailed refutes, any
// other status leaves undecided. It stands behind the findings of its step. Package replay
// calls it.
func (v *Verifier) Weigh(rep *Report, c Check) {
	if c.Status != StatusFailed {
		c.Status = StatusNotChecked
		rep.NotChecked = append(rep.NotChecked, Note{c.Code, c.Pointer, c.Detail})
	}

	at := len(rep.Checks)
	for at > 0 && rep.Checks[at-1].Step > c.Step {
		at--
	}
	rep.Checks = slices.Insert(rep.Checks, at, c)
	v.conclude(rep)
}
