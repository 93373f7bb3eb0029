package join

import (
	"slices"

	"github.com/receiptkit/receiptkit/receipt"
)

// IDs judges the receipts with one ID, which are all receipts with the same [Record.Key]. done are
// copies that do not count; all others go to the next grouping.
func IDs(group []Record) (done, on []Record) {
	group = slices.Clone(group)
	slices.SortFunc(group, func(a, b Record) int { return a.compare(&b) })

	var t Taking
	var content Record // the first receipt with the content, as it was judged
	var before *Record // the last receipt that counts
	for i := range group {
		r := &group[i]
		m, related := t.Next(r.ID, r.Computed, r.Place)
		if m != MarkCopy {
			r.settle(m, related)
			// The first receipt with a given content is passed on, even if another receipt already
			// has its ID.
			content, before = *r, r
			on = append(on, *r)
			continue
		}

		// Copies count once for each outcome, and every time if they are refuted.
		if before.Verdict == r.Verdict && before.Reason == r.Reason && r.Verdict != receipt.Refuted {
			r.settle(MarkCopy, related)
			done = append(done, *r)
			continue
		}

		// A copy that counts has the mark of the content.
		r.settle(content.Mark, content.Related)
		before = r
		on = append(on, *r)
	}
	return done, on
}
