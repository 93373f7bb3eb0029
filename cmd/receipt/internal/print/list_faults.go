package print

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A faults value counts refuted receipts, grouped by the flag that could change their verdicts.
type faults struct {
	absent int // the predecessor does not precede the receipt in the input
	order  int // the predecessor is in the same source, but in the wrong place
	others int
}

func (f *faults) add(rep *receipt.Report) {
	found := 0
	for _, c := range rep.Checks {
		if c.Status == receipt.StatusFailed {
			found++
		}
	}

	// A receipt with several faults is refuted regardless of the flags.
	switch c := rep.Finding(); {
	case found != 1:
		f.others++
	case c.Cause == "predecessor_missing" || c.Cause == "predecessor_other":
		f.absent++
	case c.Cause == "comes_earlier" || c.Cause == "named_earlier" || c.Cause == "predecessor_later":
		f.order++
	default:
		f.others++
	}
}

// hint returns the flag to use if the input is incomplete or out of order. It returns "" if there
// are other faults, because no flag changes the verdict on them.
func (f *faults) hint(s *stream.Summary) string {
	switch {
	case f.others > 0 || f.absent+f.order == 0 || len(s.Findings) > 0 || s.Partial && f.order == 0:
		return ""
	case f.order > 0:
		return "if the input is not in the order of its chains, use --unordered"
	}
	return "if the input is one part of a set, verify all parts together; use --partial if receipts may be missing"
}

// grouped describes the receipts that are combined into one line, or returns "" if each receipt
// gets its own line.
func (f *faults) grouped(s *stream.Summary) string {
	switch {
	case f.hint(s) == "" || f.absent+f.order <= few:
		return ""
	case f.order > 0:
		return "(wrong order): the receipts are not in the order of their chains"
	}
	return "(missing predecessor): the receipts that they name as predecessors are not before them in the input"
}
