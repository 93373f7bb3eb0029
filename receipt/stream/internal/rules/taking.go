package rules

import (
	"bytes"
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
)

// An ID is the first half of the SHA-256 over issuer.id and receipt_id: an id is the
// issuer's own.
type ID [16]byte

// Earlier orders two receipts that cannot both stand: the one that was issued earlier
// stands, and of one millisecond that of the lesser hash.
func Earlier(issued int64, hash canon.Digest, thanIssued int64, than canon.Digest) int {
	return cmp.Or(cmp.Compare(issued, thanIssued), bytes.Compare(hash[:], than[:]))
}

// A Taking finds copies, and ids with two contents, among receipts that are sorted by id
// and then as [Earlier] has it. The zero Taking begins.
type Taking struct {
	begun   bool
	id      ID
	owner   canon.Digest // the content that has the id
	first   Place        // of the copy of it that was read first
	hash    canon.Digest // of the content before
	content Place        // of the first receipt with it
}

// Next judges the next receipt that fits its own hash: MarkLinked is the receipt of its id,
// MarkCopy repeats the related one, and MarkDuplicate has the id of the related one, which
// has another content.
func (t *Taking) Next(id ID, hash canon.Digest, at Place) (m Mark, related Place) {
	switch {
	case !t.begun || id != t.id:
		*t = Taking{begun: true, id: id, owner: hash, first: at, hash: hash, content: at}
		return MarkLinked, Place{}
	case hash == t.hash:
		if hash == t.owner && at.Compare(t.first) < 0 {
			t.first = at
		}
		return MarkCopy, t.content
	}
	t.hash, t.content = hash, at
	return MarkDuplicate, t.first
}
