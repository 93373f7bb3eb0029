package input

import (
	"bytes"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// MaxWrapping is the maximum number of bytes of an API envelope in addition to its receipt, or of a
// page in addition to its entries. The receipt itself has separate limits, [receipt.MaxBytes] and
// [receipt.MaxDepth].
const MaxWrapping = 1 << 20

// maxDocument is the maximum size of a document, which may be a receipt in an API envelope.
const maxDocument = receipt.MaxBytes + MaxWrapping

func receiptLimits() canon.Limits {
	return canon.Limits{Bytes: receipt.MaxBytes, Depth: receipt.MaxDepth}
}

func envelopeLimits() canon.Limits { return canon.Limits{Bytes: maxDocument, Depth: canon.MaxDepth} }

// Receipt parses the JSON text of a receipt into doc, within the limits for receipts, and returns
// the text. If text is an API envelope, Receipt parses and returns the receipt inside the envelope.
// If the text cannot be parsed, doc is empty and the error is a *[canon.SyntaxError].
func Receipt(doc *canon.Document, text []byte) ([]byte, error) {
	err := doc.Parse(text, receiptLimits())
	if err != nil && !beyondLimits(err) {
		return text, err
	}

	// An envelope may exceed the limits for receipts.
	if payload := payloadIn(doc, text); payload != nil {
		return payload, doc.Parse(payload, receiptLimits())
	}
	return text, err
}

// beyondLimits reports whether err is about a limit for receipts that an envelope may exceed.
func beyondLimits(err error) bool {
	var syntax *canon.SyntaxError
	return errors.As(err, &syntax) && (syntax.Code == canon.CodeSizeLimit || syntax.Code == canon.CodeDepthLimit)
}

// payloadIn returns the text of the receipt inside an API envelope, or nil if text is not an
// envelope. The caller must pass a doc that contains text or, if text exceeds the limits for
// receipts, an empty doc. If doc is empty, payloadIn parses text into doc with the limits for
// envelopes, and empties doc before it returns. The same doc is used for both, because the index of
// a hostile document needs a lot of memory.
func payloadIn(doc *canon.Document, text []byte) []byte {
	beyond := doc.Root().IsZero()
	if beyond && doc.Parse(text, envelopeLimits()) != nil {
		return nil
	}

	// A receipt is never treated as an envelope, regardless of its members.
	root, payload := doc.Root(), canon.Node{}
	if !claimsReceipt(root) {
		payload = root.Member("wire").Member("payload")
	}
	var inside []byte
	if payload.Kind() == canon.KindObject {
		inside = payload.Raw()
	}

	// The caller must not see a document that exceeds the limits for receipts.
	if beyond {
		_ = doc.Parse(nil, canon.Limits{}) // always returns an error and empties doc
	}
	return inside
}

// claimsReceipt reports whether a document has one of the members by which receipts are recognized.
// The verifier does not report not_a_receipt for such a document.
func claimsReceipt(root canon.Node) bool {
	return bytes.HasPrefix(root.Member("schema").Text(), []byte("receipt-")) ||
		!root.Member("receipt_id").IsZero() || !root.Member("chain").IsZero()
}
