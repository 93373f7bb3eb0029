package files

import (
	"github.com/receiptkit/receiptkit/receipt"
)

// linkOf returns how package stream found a receipt to stand to the others of the
// files, in words that a client may read: names of files and lines are the server's
// own, and what else lies in them is not for everybody.
func linkOf(rep *receipt.Report) *receipt.Check {
	c := rep.Check(receipt.StepLink)
	c.Hint, c.Related = "", receipt.Place{}

	// One sentence for each case, which names no file and no other receipt.
	switch {
	case c.Code == receipt.CodeChainFork:
		c.Cause = receipt.CausePredecessorShared
		c.Detail = "names a predecessor that another stored receipt names too"
	case c.Status == receipt.StatusFailed && c.Stated == "null":
		c.Cause = receipt.CauseSecondFirst
		c.Detail = "states that nothing precedes it, but its stream has begun before it, as it is stored"
	case c.Status == receipt.StatusFailed:
		c.Cause = receipt.CausePredecessorOther
		c.Detail = "names a predecessor that is not the one before it in its stream, as it is stored"
	case c.Status == receipt.StatusNotChecked:
		c.Cause = receipt.CausePredecessorAbsent
		c.Detail, c.Reason = "", "its predecessor is not shown by what is stored"
	}

	return &c
}
