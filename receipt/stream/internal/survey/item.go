package survey

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/input"
)

// An Item is a document of an input, with the results about its relationship to other documents.
type Item struct {
	input.Piece
	Source int
	Number int // number of the document within its source, starting at 1

	Verifier *receipt.Verifier // the verifier that wrote the report
	Report   receipt.Report
	Facts    Facts
	Foreign  *receipt.Foreign // facts of a third-party receipt; otherwise nil
	Other    string           // describes a document that is not a receipt and is therefore skipped
	Again    bool             // the item is a copy of an earlier receipt
	Copy     bool             // the item is a copy with the same outcome, which is not counted

	Alone  Outcome // the outcome if the link is valid
	Before bool    // the receipt keeps its outcome, regardless of the result for its link

	foreign bool // the item does not name the predecessor that was given
}

// Spare reports whether the item is a copy that is not counted. A refuted copy is always counted.
func (it *Item) Spare() bool { return it.Copy && it.Report.Verdict != receipt.Refuted }

// Weigh sets the outcome of an item whose link has not been checked yet.
func (it *Item) Weigh() {
	if it.Facts.Placed {
		it.Alone, it.Before = it.own()
	}
}

// Link adds the result for the receipt's link to the report on the receipt.
func (it *Item) Link(c receipt.Check) {
	c.Step = receipt.StepLink
	it.Verifier.Amend(&it.Report, c)
}

// own returns the outcome that an item has if its link is valid. It also reports whether the item
// keeps that outcome regardless of the result for its link. The link must not have been checked
// yet. Under a strict policy, an unchecked link makes a receipt undecided.
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
