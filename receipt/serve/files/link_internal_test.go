package files

import (
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
)

// TestLinkOfAltered verifies that the link of an altered receipt is reported with its actual
// reason, because its predecessor may be stored.
func TestLinkOfAltered(t *testing.T) {
	reason := "the content does not match the stated hash, so the position in the stream is unknown"
	altered := receipt.Check{Step: receipt.StepLink, Code: receipt.CodeLinkNotChecked, Status: receipt.StatusNotChecked, Cause: receipt.CauseOwnHash, Reason: reason}
	rep := &receipt.Report{Checks: []receipt.Check{altered}}
	if c := linkOf(rep, false); c.Cause != receipt.CauseOwnHash || c.Reason != reason {
		t.Errorf("an altered receipt: %+v", c)
	}
	rep.Checks[0].Cause = receipt.CauseSelection
	if c := linkOf(rep, false); c.Cause != receipt.CausePredecessorAbsent || c.Reason != "its predecessor is not stored" {
		t.Errorf("a receipt whose predecessor is absent: %+v", c)
	}
}
