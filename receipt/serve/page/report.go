package page

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/aggregate"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/redact"
)

// Limits for a report. Receipts, groups, streams, and inputs beyond these limits are only counted.
const (
	maxListed   = 100     // number of receipts per verdict that are listed
	maxGroups   = 1000    // number of groups per verdict that are counted separately
	maxShared   = 100     // groups that are listed
	maxStreams  = 1000    // streams that are listed
	maxInputs   = 1000    // inputs that could not be read
	maxDocument = 1 << 20 // bytes of a single receipt that is shown completely
)

// A Report is an audit report: one HTML file for people to read, print, and keep. Receipts' reports
// are added while the receipts are judged; memory does not grow with their number. The zero value
// is ready. It is not safe for concurrent use.
//
// The file is self-contained and loads nothing. It is useful without scripts: totals, findings,
// streams, keys, and unchecked steps are plain text. Where scripts run, the views of the
// verification page, with charts, replace the plain text.
type Report struct {
	aggregate          aggregate.Aggregate
	refuted, undecided listed
	first              *receipt.Report // while there is only one receipt
	document           []byte          // its canonical form, if it has a canonical form that is not too long
	headline           *headline.Headline
	count              int

	doc canon.Document // memory for the next receipt
}

// Add adds a receipt's report. Text is the receipt as JSON, or nil; neither argument is retained.
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

// mayShow reports whether nothing in the document looks like a secret. The file contains the entire
// receipt that is shown, and may be passed on.
func (r *Report) mayShow() bool {
	policy, err := redact.Everyday()
	return err == nil && len(policy.Find(&r.doc)) == 0
}
