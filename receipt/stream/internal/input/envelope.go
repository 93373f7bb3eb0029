package input

import (
	"bytes"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// MaxWrapping is how many bytes an API envelope may have around its receipt, and a
// page around its entries. Receipts have limits of their own, [receipt.MaxBytes] and
// [receipt.MaxDepth], which are judged of what is inside.
const MaxWrapping = 1 << 20

// maxDocument bounds what is cut out of an input: a receipt in its envelope.
const maxDocument = receipt.MaxBytes + MaxWrapping

func receiptLimits() canon.Limits {
	return canon.Limits{Bytes: receipt.MaxBytes, Depth: receipt.MaxDepth}
}

func envelopeLimits() canon.Limits { return canon.Limits{Bytes: maxDocument, Depth: canon.MaxDepth} }

// Receipt parses the JSON text of a receipt into doc by the limits of the format,
// and returns the text. Of a receipt inside an API envelope both are of the receipt.
// On error, a *[canon.SyntaxError], doc is empty.
func Receipt(doc *canon.Document, text []byte) ([]byte, error) {
	err := doc.Parse(text, receiptLimits())
	if err != nil && !beyondLimits(err) {
		return text, err
	}

	// What the receipt format forbids may be around a receipt.
	if payload := payloadIn(doc, text); payload != nil {
		return payload, doc.Parse(payload, receiptLimits())
	}
	return text, err
}

// beyondLimits reports whether a text is too large or too deep for a receipt, and
// perhaps not for an envelope.
func beyondLimits(err error) bool {
	var syntax *canon.SyntaxError
	return errors.As(err, &syntax) && (syntax.Code == canon.CodeSizeLimit || syntax.Code == canon.CodeDepthLimit)
}

// payloadIn returns the text of the receipt inside an API envelope; nil when the
// text is not an envelope. doc holds the text when that is within the limits of
// receipts. When it is not, the limits of envelopes apply, and doc is empty again
// at the end: it is used for both, as one index of a hostile text takes much memory.
func payloadIn(doc *canon.Document, text []byte) []byte {
	beyond := doc.Root().IsZero()
	if beyond && doc.Parse(text, envelopeLimits()) != nil {
		return nil
	}

	// An envelope is not a receipt itself.
	root, payload := doc.Root(), canon.Node{}
	if !claimsReceipt(root) {
		payload = root.Member("wire").Member("payload")
	}
	var inside []byte
	if payload.Kind() == canon.KindObject {
		inside = payload.Raw()
	}

	if beyond {
		_ = doc.Parse(nil, canon.Limits{}) // always an error, which empties it
	}
	return inside
}

// claimsReceipt reports whether a document has anything of a receipt, so that the
// verifier does not call it not_a_receipt.
func claimsReceipt(root canon.Node) bool {
	return bytes.HasPrefix(root.Member("schema").Text(), []byte("receipt-")) ||
		!root.Member("receipt_id").IsZero() || !root.Member("chain").IsZero()
}
