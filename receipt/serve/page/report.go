package page

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/aggregate"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/redact"
)

// Bounds of a report. Receipts, groups, streams, and inputs beyond them are counted.
const (
	maxListed   = 100     // receipts of each verdict that are listed
	maxGroups   = 1000    // groups of each verdict that are counted separately
	maxShared   = 100     // groups that are listed
	maxStreams  = 1000    // streams that are listed
	maxInputs   = 1000    // inputs that could not be read
	maxDocument = 1 << 20 // bytes of a single receipt that is shown completely
)

// A Report is an audit report: one HTML file for people, to read, print, and keep. Reports of
// receipts are added while they are judged; memory does not grow with their number. The zero value
// is ready. It is not safe for concurrent use.
//
// The file is self-contained and loads nothing. It is useful without scripts: totals, findings,
// streams, keys, and unchecked steps are plain text. Where scripts run, the views of the
// verification page replace it, with charts.
type Report struct {
	aggregate          aggregate.Aggregate
	refuted, undecided listed
	first              *receipt.Report // while there is one receipt only
	document           []byte          // its canonical form, if it has one that is not too long
	headline           *headline.Headline
	count              int

	doc canon.Document // memory for the next receipt
}

// Add adds the report of one receipt. Text is the receipt as JSON, or nil; neither is retained.
func (r *Report) Add(rep *receipt.Report, text []byte) {
	var root canon.Node
	if r.doc.Parse(text, canon.Limits{Bytes: receipt.MaxBytes, Depth: receipt.MaxDepth}) == nil { // otherwise, the report states why
		root = r.doc.Root()
	}

	r.aggregate.Add(rep, root)
	switch rep.Verdict {
	case receipt.Verified:
	case receipt.Refuted:
		r.refuted.add(rep, root)
	default:
		r.undecided.add(rep, root)
	}

	// The details of a receipt are shown only if it is the only one.
	if r.count++; r.count > 1 {
		r.first, r.document, r.headline = nil, nil, nil
		return
	}

	r.first = rep.Clone()
	if root.Kind() == canon.KindObject && rep.Check(receipt.StepParse).Status == receipt.StatusPassed && len(text) <= maxDocument && r.mayShow() {
		r.document, r.headline = r.doc.AppendCanonical(nil), headline.Read(root).Headline()
	}
}

// mayShow reports whether nothing in the document looks like a secret. The file contains a shown
// receipt completely, and is passed on.
func (r *Report) mayShow() bool {
	policy, err := redact.Everyday()
	return err == nil && len(policy.Find(&r.doc)) == 0
}
