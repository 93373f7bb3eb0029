package receipt

import (
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
