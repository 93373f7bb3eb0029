package corpus

import (
	"context"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A record is a receipt in the making: canonical from the start, with
// placeholders of the right length for what is not known yet. So linking and
// signing overwrite a few bytes instead of writing the receipt anew.
type record struct {
	number int
	text   []byte
	key    string // id of the key that signs

	previous, hash, signature int // where these strings begin in text
}

// newRecord makes the canonical form of a draft. An error would be one of the
// generator's, hence the panic.
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

// link puts the receipt behind the head of its stream and returns the new head.
func (r *record) link(doc *canon.Document, head chain.Head) chain.Head {
	if !head.IsZero() { // the first of a stream states null already
		copy(r.text[r.previous:], head.Hash.String())
	}
	mustParse(doc, r.text)
	hash, err := chain.Hash(doc)
	if err != nil {
		panic(err) // mustParse has seen an object
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
