package join

import (
	"bytes"
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
)

// An ID is the first half of the SHA-256 over issuer.id and receipt_id, because IDs of
// different issuers are unrelated.
type ID [16]byte

// Earlier orders two conflicting receipts: the receipt that was issued earlier takes precedence. If
// both were issued in the same millisecond, the receipt with the smaller hash takes precedence.
func Earlier(issued int64, hash canon.Digest, thanIssued int64, than canon.Digest) int {
	return cmp.Or(cmp.Compare(issued, thanIssued), bytes.Compare(hash[:], than[:]))
}

// A Taking finds copies, and IDs with two contents, among receipts that are sorted by ID
// and then by [Earlier]. The zero Taking is ready to use.
type Taking struct {
	begun   bool
	id      ID
	owner   canon.Digest // the content that has the ID
	first   Place        // the first-read copy of the owner
	hash    canon.Digest // of the previous content
	content Place        // of the first receipt with that content
}

// Next judges the next receipt that matches its own hash. MarkLinked means that it owns its
// ID, MarkCopy that it is a copy of the related receipt, and MarkDuplicate that the related
// receipt has the same ID but different content.
func (t *Taking) Next(id ID, hash canon.Digest, at Place) (m Mark, related Place) {
	switch {
	// The first receipt of an ID owns it, because receipts are sorted by Earlier.
	case !t.begun || id != t.id:
		*t = Taking{begun: true, id: id, owner: hash, first: at, hash: hash, content: at}
		return MarkLinked, Place{}

	case hash == t.hash:
		if hash == t.owner && at.Compare(t.first) < 0 {
			t.first = at
		}
		return MarkCopy, t.content
	}

	// Another content with the same ID. Its copies are related to its first receipt.
	t.hash, t.content = hash, at
	return MarkDuplicate, t.first
}
