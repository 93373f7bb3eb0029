package stream

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/input"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// A worker judges one item after the other with memory of its own.
type worker struct {
	input.Decoder
	v      *receipt.Verifier
	policy receipt.Policy // of v
	glean  func(*canon.Document, *receipt.Report, []byte) []byte
}

// newWorker makes a worker for verifiers of one policy; v is nil when it is to
// gather facts alone.
func newWorker(codec *archive.Codec, v *receipt.Verifier) *worker {
	w := &worker{Decoder: input.NewDecoder(codec)}
	if v != nil {
		w.policy = v.Policy()
	}
	return w
}

// survey gathers the facts of an item and makes no report.
func (w *worker) survey(it *survey.Item, found bool) {
	c := w.Decode(&it.Piece, found)
	it.Facts.Placed, it.Other = false, c.Other
	if c.Parsed() {
		it.Facts.Gather(w.Doc, canon.Digest{})
	}
}

// verify makes the report of an item and gathers its facts.
func (w *worker) verify(it *survey.Item, found bool) {
	w.JSON = nil // the item keeps its text
	received := it.Data
	c := w.Decode(&it.Piece, found)
	it.Facts.Placed, it.Other = false, c.Other
	if c.Text != nil {
		it.Data = c.Text
	}

	rep := &it.Report
	switch {
	case c.Fault != nil:
		w.refuse(it, c.Fault)
	case c.Wrong != nil:
		w.v.Unreadable(rep, *c.Wrong)
	case c.Syntax != nil:
		w.v.VerifyBytes(c.Text, w.Doc, rep) // the same error, as reports word it
	case w.beyondCaller(c.Text):
		// What the caller's limits leave undecided has its place among the others.
		it.Facts.Gather(w.Doc, canon.Digest{})
		w.v.VerifyBytes(c.Text, w.Doc, rep)
	default:
		w.v.Verify(w.Doc, rep)
		it.Facts.Gather(w.Doc, rep.ReceiptHash)
	}

	if w.glean != nil && c.Parsed() {
		rep.Gleaned = w.glean(w.Doc, rep, rep.Gleaned)
	}

	if c.Wrapped {
		rep.NotChecked = append(rep.NotChecked, receipt.Note{Code: receipt.CodeEnvelopeNotChecked, Pointer: "/wire/payload",
			Detail: "the API envelope around the receipt: nothing protects it"})
	}

	// What is around the receipt is signed, and shows more of it.
	if c.Weigh != nil {
		c.Weigh(w.v, w.Doc, rep)
	}

	// The digest is of the bytes that were received, not of what is in them.
	if (it.CBOR || c.Sealed) && !w.policy.NoInputDigest {
		rep.InputSHA256 = canon.Sum(received)
	}
}

// refuse reports what is not a document.
func (w *worker) refuse(it *survey.Item, f *input.Fault) {
	c := receipt.Check{Status: receipt.StatusFailed, Code: f.Code, Detail: f.Detail, Hint: f.Hint}
	if f.Torn {
		c.Status = receipt.StatusNotChecked
	}
	w.v.Unreadable(&it.Report, c)
	if len(it.Data) > 0 && !w.policy.NoInputDigest {
		it.Report.InputSHA256 = canon.Sum(it.Data)
	}
}

// beyondCaller reports whether a document is within the limits of the format, but
// not within those that the caller set below them.
func (w *worker) beyondCaller(text []byte) bool {
	limits := w.policy.Limits
	return limits.Bytes > 0 && len(text) > limits.Bytes || limits.Depth > 0 && w.Doc.Depth() > limits.Depth
}
