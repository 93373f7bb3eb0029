package files

import (
	"github.com/receiptkit/receiptkit/receipt"
)

// linkOf describes the result for a receipt's link in a form that is suitable for clients. They may
// not be allowed to see the names of files or other receipts. first states that the receipt is
// intact and claims to have no predecessor.
func linkOf(rep *receipt.Report, first bool) *receipt.Check {
	c := rep.Check(receipt.StepLink)
	c.Hint, c.Related = "", receipt.Place{}

	// Each case has one sentence. It contains no file name and names no other receipt.
	switch {
	case c.Code == receipt.CodeChainFork:
		c.Cause = receipt.CausePredecessorShared
		c.Detail = "names a predecessor that another stored receipt also names"
	case c.Status == receipt.StatusFailed && c.Stated == "null":
		c.Cause = receipt.CauseSecondFirst
		c.Detail = "states that nothing precedes it, but an earlier receipt of its stream is stored"
	case c.Status == receipt.StatusFailed:
		c.Cause = receipt.CausePredecessorOther
		c.Detail = "names a predecessor that is not the receipt stored before it in its stream"
	case c.Status == receipt.StatusNotChecked && c.Cause == "" && first: // no other stored receipt is in its stream
		return &receipt.Check{Step: receipt.StepLink, Status: receipt.StatusPassed}
	case c.Status == receipt.StatusNotChecked && c.Cause == receipt.CauseOwnHash: // this is about the receipt alone
	case c.Status == receipt.StatusNotChecked:
		c.Cause = receipt.CausePredecessorAbsent
		c.Detail, c.Reason = "", "its predecessor is not stored"
	}

	return &c
}
