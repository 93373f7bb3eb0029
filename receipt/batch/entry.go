package batch

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle"
)

// An Entry is one receipt of a batch.
type Entry struct {
	ReceiptID   string
	Leaf        merkle.Hash  // receipt.BatchLeaf of the receipt
	ReceiptHash canon.Digest // chain.receipt_hash
}

// append writes the entry in canonical form.
func (e Entry) append(b []byte) []byte {
	b = canon.AppendString(append(b, `{"leaf_hash":`...), canon.Digest(e.Leaf).String())
	b = canon.AppendString(append(b, `,"receipt_hash":`...), e.ReceiptHash.String())
	b = canon.AppendString(append(b, `,"receipt_id":`...), e.ReceiptID)
	return append(b, '}')
}
