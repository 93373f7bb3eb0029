package stream

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/internal/vocab"
)

// A worker judges one item after the other with memory of its own.
type worker struct {
	decoder
	v      *receipt.Verifier
	policy receipt.Policy // of v
	glean  func(*canon.Document, *receipt.Report, []byte) []byte
}

// newWorker makes a worker for verifiers of one policy; v is nil when it is to
// gather facts alone.
func newWorker(codec *archive.Codec, v *receipt.Verifier) *worker {
	w := &worker{decoder: newDecoder(codec)}
	if v != nil {
		w.policy = v.Policy()
	}
	return w
}

// survey gathers the facts of an item and makes no report.
func (w *worker) survey(it *item, found bool) {
	c := w.decode(&it.piece, found)
	it.facts.placed, it.other = false, c.other
	if c.parsed() {
		it.facts.gather(w.doc, canon.Digest{})
	}
}

// verify makes the report of an item and gathers its facts.
func (w *worker) verify(it *item, found bool) {
	w.json = nil // the item keeps its text
	received := it.data
	c := w.decode(&it.piece, found)
	it.facts.placed, it.other = false, c.other
	if c.text != nil {
		it.data = c.text
	}

	rep := &it.rep
	switch {
	case c.fault != nil:
		w.refuse(it, c.fault)
	case c.wrong != nil:
		w.v.Unreadable(rep, *c.wrong)
	case c.syntax != nil:
		w.v.VerifyBytes(c.text, w.doc, rep) // the same error, as reports word it
	case w.beyondCaller(c.text):
		// What the caller's limits leave undecided has its place among the others.
		it.facts.gather(w.doc, canon.Digest{})
		w.v.VerifyBytes(c.text, w.doc, rep)
	default:
		w.v.Verify(w.doc, rep)
		it.facts.gather(w.doc, rep.ReceiptHash)
	}

	if w.glean != nil && c.parsed() {
		rep.Gleaned = w.glean(w.doc, rep, rep.Gleaned)
	}

	if c.wrapped {
		rep.NotChecked = append(rep.NotChecked, receipt.Note{Code: vocab.CodeEnvelopeNotChecked, Pointer: "/wire/payload",
			Detail: "the API envelope around the receipt: nothing protects it"})
	}

	// What is around the receipt is signed, and shows more of it.
	if c.weigh != nil {
		c.weigh(w.v, w.doc, rep)
	}

	// The digest is of the bytes that were received, not of what is in them.
	if (it.cbor || c.sealed) && !w.policy.NoInputDigest {
		rep.InputSHA256 = canon.Sum(received)
	}
}

// refuse reports what is not a document.
func (w *worker) refuse(it *item, f *fault) {
	c := receipt.Check{Status: receipt.StatusFailed, Code: f.code, Detail: f.detail, Hint: f.hint}
	if f.torn {
		c.Status = receipt.StatusNotChecked
	}
	w.v.Unreadable(&it.rep, c)
	if len(it.data) > 0 && !w.policy.NoInputDigest {
		it.rep.InputSHA256 = canon.Sum(it.data)
	}
}

// beyondCaller reports whether a document is within the limits of the format, but
// not within those that the caller set below them.
func (w *worker) beyondCaller(text []byte) bool {
	limits := w.policy.Limits
	return limits.Bytes > 0 && len(text) > limits.Bytes || limits.Depth > 0 && w.doc.Depth() > limits.Depth
}
