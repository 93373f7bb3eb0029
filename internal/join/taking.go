package join

import (
	"bytes"
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
)

// An ID is the first half of the SHA-256 of issuer.id and receipt_id. The hash covers the issuer,
// because IDs of different issuers are unrelated.
type ID [16]byte

// Earlier orders two conflicting receipts. The receipt that was issued earlier takes precedence. If
// both were issued in the same millisecond, the receipt with the smaller hash takes precedence.
func Earlier(issued int64, hash canon.Digest, thanIssued int64, than canon.Digest) int {
	return cmp.Or(cmp.Compare(issued, thanIssued), bytes.Compare(hash[:], than[:]))
}

// A Taking finds copies, and IDs with two contents, among receipts that are sorted by ID and then
// by [Earlier]. The zero Taking is ready to use.
type Taking struct {
	begun   bool
	id      ID
	owner   canon.Digest // the content to which the ID belongs
	first   Place        // the copy of the owner that was read first
	hash    canon.Digest // hash of the previous content
	content Place        // place of the first receipt with this content
}

// Next evaluates the next receipt, whose content must match its stated hash. MarkLinked means that
// the ID belongs to the receipt. MarkCopy means that the receipt is a copy of the related receipt.
// MarkDuplicate means that the related receipt has the same ID but different content.
func (t *Taking) Next(id ID, hash canon.Digest, at Place) (m Mark, related Place) {
	switch {
	// Receipts are sorted by Earlier, so an ID belongs to the first receipt that has it.
	case !t.begun || id != t.id:
		*t = Taking{begun: true, id: id, owner: hash, first: at, hash: hash, content: at}
		return MarkLinked, Place{}

	case hash == t.hash:
		if hash == t.owner && at.Compare(t.first) < 0 {
			t.first = at
		}
		return MarkCopy, t.content
	}

	// The receipt has the same ID but different content. The copies of the receipt are then related
	// to it.
	t.hash, t.content = hash, at
	return MarkDuplicate, t.first
}
