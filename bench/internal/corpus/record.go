package corpus

import (
	"context"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A record is a receipt under construction. It is in canonical form from the start, with
// placeholders of the right length, so that linking and signing only overwrite a few bytes.
type record struct {
	number int
	text   []byte
	key    string // ID of the signing key

	previous, hash, signature int // offsets of these strings in text
}

// newRecord returns the canonical form of a draft. It panics on errors, because they would be
// bugs of the generator.
func newRecord(number int, unlinked []byte, doc *canon.Document) *record {
	mustParse(doc, unlinked)
	r := &record{number: number, text: doc.AppendCanonical(nil)}
	mustParse(doc, r.text)
	root := doc.Root()
	link := root.Member("chain")
	r.previous = link.Member("previous_receipt_hash").Offset() + 1
	r.hash = link.Member("receipt_hash").Offset() + 1
	for _, entry := range root.Member("signatures").Elements() {
		r.signature = entry.Member("signature").Offset() + 1
		r.key = entry.Member("key_id").String()
	}
	return r
}

func mustParse(doc *canon.Document, text []byte) {
	limits := canon.Limits{Bytes: receipt.MaxBytes, Depth: receipt.MaxDepth}
	if err := doc.Parse(text, limits); err != nil {
		panic(fmt.Sprintf("corpus: the generator wrote no receipt: %v", err))
	}
}

// link links the receipt to the head of its stream and returns the new head.
func (r *record) link(doc *canon.Document, head chain.Head) chain.Head {
	if !head.IsZero() { // the first receipt of a stream already states null
		copy(r.text[r.previous:], head.Hash.String())
	}
	mustParse(doc, r.text)
	hash, err := chain.Hash(doc)
	if err != nil {
		panic(err) // mustParse has parsed an object
	}
	copy(r.text[r.hash:], hash.String())
	return chain.Head{Hash: hash, Count: head.Count + 1}
}

const hashLength = len("sha256:") + 64

func (r *record) sign(ring *ring) {
	message := r.text[r.hash : r.hash+hashLength]
	signature, err := ring.signer(r.key).Sign(context.Background(), message)
	if err != nil {
		panic(err) // the keys are local and the message is a hash
	}
	copy(r.text[r.signature:], signature.Signature)
}
