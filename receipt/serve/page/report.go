package page

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/aggregate"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/redact"
)

// These are limits on a report. Receipts, groups, streams, and inputs beyond these limits are
// counted but not listed.
const (
	maxListed   = 100     // listed receipts per verdict
	maxGroups   = 1000    // groups per verdict that are counted separately
	maxShared   = 100     // listed groups
	maxStreams  = 1000    // listed streams
	maxInputs   = 1000    // listed inputs that could not be read
	maxDocument = 1 << 20 // maximum length of a receipt that is shown in full, in bytes
)

// A Report is an audit report: a single HTML file for people to read, print, and keep. Reports on
// receipts are added while the receipts are verified; memory use does not depend on their number.
// The zero value is ready to use. A Report is not safe for concurrent use.
//
// The file is self-contained and loads no other resources. It is useful even without scripts,
// because totals, findings, streams, keys, and unchecked steps are plain text. If scripts are
// enabled, the views of the verification page, with charts, replace the plain text.
type Report struct {
	aggregate          aggregate.Aggregate
	refuted, undecided listed
	first              *receipt.Report // the first report; nil if there are several
	document           []byte          // the canonical form of that receipt; nil if it has none, is too long, or looks like it contains a secret
	headline           *headline.Headline
	count              int

	doc canon.Document // reused for the next receipt
}

// Add adds the report on a receipt. text is the receipt as JSON, or nil. Neither argument is
// retained.
func (r *Report) Add(rep *receipt.Report, text []byte) {
	var root canon.Node
	if r.doc.Parse(text, canon.Limits{Bytes: receipt.MaxBytes, Depth: receipt.MaxDepth}) == nil { // if parsing fails, the report states why
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

	// The details of a receipt are shown only if there is no other receipt.
	if r.count++; r.count > 1 {
		r.first, r.document, r.headline = nil, nil, nil
		return
	}

	r.first = rep.Clone()
	if root.Kind() == canon.KindObject && rep.Check(receipt.StepParse).Status == receipt.StatusPassed && len(text) <= maxDocument && r.mayShow() {
		r.document, r.headline = r.doc.AppendCanonical(nil), headline.Read(root).Headline()
	}
}

// mayShow reports whether the document contains nothing that looks like a secret. This matters
// because the file contains the entire receipt and may be passed on.
func (r *Report) mayShow() bool {
	policy, err := redact.Everyday()
	return err == nil && len(policy.Find(&r.doc)) == 0
}
