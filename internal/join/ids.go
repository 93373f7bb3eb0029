package join

import (
	"slices"

	"github.com/receiptkit/receiptkit/receipt"
)

// IDs evaluates the receipts with one ID, which are all receipts with the same [Record.Key]. The
// result done contains the copies that are not counted, and the result on contains all other
// receipts, for the next grouping.
func IDs(group []Record) (done, on []Record) {
	group = slices.Clone(group)
	slices.SortFunc(group, func(a, b Record) int { return a.compare(&b) })

	var t Taking
	var content Record // the first receipt with the current content, with its mark
	var before *Record // the last receipt that is counted
	for i := range group {
		r := &group[i]
		m, related := t.Next(r.ID, r.Computed, r.Place)
		if m != MarkCopy {
			r.settle(m, related)
			// The first receipt with a given content is passed on, even if another receipt already
			// has the ID.
			content, before = *r, r
			on = append(on, *r)
			continue
		}

		// Copies are counted once for each outcome, and a refuted copy is always counted.
		if before.Verdict == r.Verdict && before.Reason == r.Reason && r.Verdict != receipt.Refuted {
			r.settle(MarkCopy, related)
			done = append(done, *r)
			continue
		}

		// A copy that is counted has the mark of the first receipt with its content.
		r.settle(content.Mark, content.Related)
		before = r
		on = append(on, *r)
	}
	return done, on
}
