package survey

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/input"
)

// An Item is a document in an input, with the results about its relation to the others.
type Item struct {
	input.Piece
	Source int
	Number int // number of the document in its source, from 1

	Verifier *receipt.Verifier // the verifier that wrote the report
	Report   receipt.Report
	Facts    Facts
	Foreign  *receipt.Foreign // facts of a third-party receipt that was read; otherwise nil
	Other    string           // describes a document that is not a receipt; it is skipped
	Again    bool             // it is a copy of an earlier receipt
	Copy     bool             // it is a copy with the same outcome, which does not count

	Alone  Outcome // the outcome if the link holds
	Before bool    // Alone remains, regardless of the link's result

	foreign bool // it does not name the given predecessor
}

// Spare reports whether the item is a copy that does not count. A refuted copy counts.
func (it *Item) Spare() bool { return it.Copy && it.Report.Verdict != receipt.Refuted }

// Weigh sets the outcome of an item whose link has not been judged yet.
func (it *Item) Weigh() {
	if it.Facts.Placed {
		it.Alone, it.Before = it.own()
	}
}

// Link records the receipt's relation to the other receipts in its stream.
func (it *Item) Link(c receipt.Check) {
	c.Step = receipt.StepLink
	it.Verifier.Amend(&it.Report, c)
}

// own returns an item's outcome if its link holds, and reports whether that outcome remains
// regardless of the link's result. The link must not have been judged yet. Under a strict policy,
// an unchecked link leaves a receipt undecided.
func (it *Item) own() (o Outcome, before bool) {
	rep := &it.Report
	open := rep.Finding()
	if it.Verifier.Policy().Strict && rep.Verdict == receipt.Undecided {
		rep = rep.Clone()
		it.Verifier.Amend(rep, receipt.Check{Step: receipt.StepLink, Status: receipt.StatusPassed})
	}

	if o.Own = rep.Verdict; o.Own == receipt.Verified {
		return o, false
	}
	why := rep.Finding()
	o.Reason = why.Code
	if o.Own == receipt.Undecided {
		return o, why.Code == open.Code
	}
	return o, why.Step <= receipt.StepLink
}
