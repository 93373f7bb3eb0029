package join

import (
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

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
		if hash == t.owner && at.compare(t.first) < 0 {
			t.first = at
		}
		return MarkCopy, t.content
	}
	t.hash, t.content = hash, at
	return MarkDuplicate, t.first
}

// IDs judges the receipts of one id, which are all that have its [Record.Key]. Done are
// copies that do not count; all others go on to the next grouping.
func IDs(group []Record) (done, on []Record) {
	group = slices.Clone(group)
	slices.SortFunc(group, func(a, b Record) int { return a.compare(&b) })

	var t Taking
	var content Record // its first one, as it was found
	var before *Record // the last of it that counts
	for i := range group {
		r := &group[i]
		m, related := t.Next(r.ID, r.Computed, r.Place)
		if m != MarkCopy {
			r.settle(m, related)
			content, before = *r, r
			on = append(on, *r)
			continue
		}

		// Copies count once for each outcome of theirs, and when that is refuted.
		if before.Verdict == r.Verdict && before.Reason == r.Reason && r.Verdict != receipt.Refuted {
			r.settle(MarkCopy, related)
			done = append(done, *r)
			continue
		}
		r.settle(content.Mark, content.Related)
		before = r
		on = append(on, *r)
	}
	return done, on
}
