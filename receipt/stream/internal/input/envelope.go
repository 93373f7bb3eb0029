package input

import (
	"bytes"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// MaxWrapping is the maximum number of bytes that an API envelope may have around its receipt, or a
// page around its entries. The receipt inside has its own limits, [receipt.MaxBytes] and
// [receipt.MaxDepth].
const MaxWrapping = 1 << 20

// maxDocument is the maximum size of a document, which is a receipt in its envelope.
const maxDocument = receipt.MaxBytes + MaxWrapping

func receiptLimits() canon.Limits {
	return canon.Limits{Bytes: receipt.MaxBytes, Depth: receipt.MaxDepth}
}

func envelopeLimits() canon.Limits { return canon.Limits{Bytes: maxDocument, Depth: canon.MaxDepth} }

// Receipt parses the JSON text of a receipt into doc within the limits of the format, and returns
// the text. For an API envelope, both are those of the receipt inside the envelope. If Receipt
// returns an error, a *[canon.SyntaxError], doc is empty.
func Receipt(doc *canon.Document, text []byte) ([]byte, error) {
	err := doc.Parse(text, receiptLimits())
	if err != nil && !beyondLimits(err) {
		return text, err
	}

	// The envelope of a receipt may exceed the limits of receipts.
	if payload := payloadIn(doc, text); payload != nil {
		return payload, doc.Parse(payload, receiptLimits())
	}
	return text, err
}

// beyondLimits reports whether text exceeds a limit for receipts but may be within the limits for
// envelopes.
func beyondLimits(err error) bool {
	var syntax *canon.SyntaxError
	return errors.As(err, &syntax) && (syntax.Code == canon.CodeSizeLimit || syntax.Code == canon.CodeDepthLimit)
}

// payloadIn returns the text of the receipt inside an API envelope, or nil if text is not an
// envelope. If text is within the limits for receipts, doc holds it. Otherwise, payloadIn parses it
// into doc with the limits for envelopes, and empties doc at the end. It uses one doc for both,
// because the index of a hostile text requires much memory.
func payloadIn(doc *canon.Document, text []byte) []byte {
	beyond := doc.Root().IsZero()
	if beyond && doc.Parse(text, envelopeLimits()) != nil {
		return nil
	}

	// A receipt is not an envelope, regardless of its members.
	root, payload := doc.Root(), canon.Node{}
	if !claimsReceipt(root) {
		payload = root.Member("wire").Member("payload")
	}
	var inside []byte
	if payload.Kind() == canon.KindObject {
		inside = payload.Raw()
	}

	// The caller must not receive a document that exceeds the limits for receipts.
	if beyond {
		_ = doc.Parse(nil, canon.Limits{}) // always returns an error, and empties doc
	}
	return inside
}

// claimsReceipt reports whether a document has a member of a receipt, so that the verifier
// does not report not_a_receipt.
func claimsReceipt(root canon.Node) bool {
	return bytes.HasPrefix(root.Member("schema").Text(), []byte("receipt-")) ||
		!root.Member("receipt_id").IsZero() || !root.Member("chain").IsZero()
}
