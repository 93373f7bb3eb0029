package survey

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/input"
)

// An Item is one document of an input, as it stands to the others.
type Item struct {
	input.Piece
	Source int
	Number int // of the document in its source, from 1

	Verifier *receipt.Verifier // who judged it
	Report   receipt.Report
	Facts    Facts
	Other    string // what the document is instead of a receipt; it is skipped
	Again    bool   // it is a copy of a receipt before it
	Copy     bool   // and has the same verdict: not counted

	Alone  Outcome // what it is counted as if its link holds
	Before bool    // and that explains it whatever is found of the link

	foreign bool // it does not name the predecessor that was given
}

// Spare reports whether an item is a copy that does not count: one that is refuted does.
func (it *Item) Spare() bool { return it.Copy && it.Report.Verdict != receipt.Refuted }

// Weigh keeps what an item whose link was not judged yet is counted as.
func (it *Item) Weigh() {
	if it.Facts.Placed {
		it.Alone, it.Before = it.own()
	}
}

// own is what an item whose link was not judged yet is counted as if its link
// holds, and whether that explains it whatever is found of the link. Under a strict policy
// a link that nobody looked at decides.
func (it *Item) own() (o Outcome, before bool) {
	rep := &it.Report
	open := rep.Finding()
	if it.Verifier.Policy().Strict && rep.Verdict == receipt.Undecided {
		rep = rep.Clone()
		it.Verifier.Link(rep, receipt.Check{Status: receipt.StatusPassed})
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
