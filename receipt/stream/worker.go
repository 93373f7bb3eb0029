package stream

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/input"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// A worker processes items one after another. It reuses its memory.
type worker struct {
	input.Decoder
	v      *receipt.Verifier
	policy receipt.Policy // policy of v
	glean  func(*canon.Document, *receipt.Report, []byte) []byte
}

// newWorker returns a worker for verifiers that have the same policy as v. If v is nil, the worker
// only collects facts.
func newWorker(codec *archive.Codec, v *receipt.Verifier) *worker {
	w := &worker{Decoder: input.NewDecoder(codec)}
	if v != nil {
		w.policy = v.Policy()
	}
	return w
}

// survey collects the facts about an item, without writing a report.
func (w *worker) survey(it *survey.Item, found bool) {
	c := w.Decode(&it.Piece, found)
	it.Facts.Placed, it.Other, it.Foreign = false, c.Other, nil
	if c.Format != "" {
		it.Foreign = new(receipt.Foreign)
	}
	if c.Parsed() {
		it.Facts.Gather(w.Doc, canon.Digest{})
	}
}

// verify writes the report on an item and collects the facts about it.
func (w *worker) verify(it *survey.Item, found bool) {
	w.JSON = nil // the item refers to this text
	received := it.Data
	c := w.Decode(&it.Piece, found)
	it.Facts.Placed, it.Other = false, c.Other
	if c.Text != nil {
		it.Data = c.Text
	}

	rep := &it.Report
	it.Foreign = nil
	switch {
	case c.Format != "":
		it.Foreign = w.verifyForeign(&c, rep)
	case c.Fault != nil:
		w.refuse(it, c.Fault)
	case c.Wrong != nil:
		w.v.Amend(rep, *c.Wrong)
	case c.Syntax != nil:
		w.v.VerifyBytes(c.Text, w.Doc, rep) // the error is the same, but is written as a report
	case w.beyondCaller(c.Text):
		// A receipt that exceeds limits of the caller is undecided, but keeps its position.
		it.Facts.Gather(w.Doc, canon.Digest{})
		w.v.VerifyBytes(c.Text, w.Doc, rep)
	default:
		w.v.Verify(w.Doc, rep)
		it.Facts.Gather(w.Doc, rep.ReceiptHash)
	}

	if w.glean != nil && c.Parsed() {
		rep.Extracted = w.glean(w.Doc, rep, rep.Extracted)
	}

	if c.Wrapped {
		rep.NotChecked = append(rep.NotChecked, receipt.Note{Code: receipt.CodeEnvelopeNotChecked, Pointer: "/wire/payload",
			Detail: "the API envelope is not protected by the hash"})
	}

	// The results for a signed envelope are added to the report.
	if c.Weigh != nil {
		c.Weigh(w.v, w.Doc, rep)
	}

	// The digest covers the received bytes, not the receipt that was extracted from them.
	if (it.CBOR || c.Sealed) && !w.policy.NoInputDigest {
		rep.InputSHA256 = canon.Sum(received)
	}
}

// verifyForeign verifies a third-party receipt, and returns its position in a chain. If there is no
// reader for the format, the receipt is undecided and has no position.
func (w *worker) verifyForeign(c *input.Contents, rep *receipt.Report) *receipt.Foreign {
	f := foreign.Read(c.Format, c.Text, w.Doc)
	if f == nil {
		w.v.Amend(rep, *c.Wrong)
		return new(receipt.Foreign)
	}
	w.v.Foreign(c.Text, f, rep)
	// The other fields are not needed to compare the receipt with others.
	return &receipt.Foreign{Format: f.Format, Hash: f.Hash, Place: f.Place}
}

// refuse writes the report on a piece that is not a document.
func (w *worker) refuse(it *survey.Item, f *input.Fault) {
	c := receipt.Check{Status: receipt.StatusFailed, Code: f.Code, Detail: f.Detail, Hint: f.Hint}
	if f.Torn {
		c.Status = receipt.StatusNotChecked
	}
	w.v.Amend(&it.Report, c)
	if len(it.Data) > 0 && !w.policy.NoInputDigest {
		it.Report.InputSHA256 = canon.Sum(it.Data)
	}
}

// beyondCaller reports whether a document is within the limits of the format but exceeds lower
// limits of the caller.
func (w *worker) beyondCaller(text []byte) bool {
	limits := w.policy.Limits
	return limits.Bytes > 0 && len(text) > limits.Bytes || limits.Depth > 0 && w.Doc.Depth() > limits.Depth
}
