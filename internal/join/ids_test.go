package join_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestDuplicateNamesTheFirstCopy verifies that, if the ID of a receipt is already in use, the
// finding refers to the first copy of the receipt that owns the ID. The order of the copies and
// copies with different content must not matter.
func TestDuplicateNamesTheFirstCopy(t *testing.T) {
	var group []join.Record
	add := func(content byte, reason receipt.Code, index int) {
		hash := canon.Sum([]byte{content})
		r := join.Record{Stated: hash, Computed: hash, Issued: int64(content), Reason: reason, Place: join.Place{Index: index}}
		r.Begin()
		group = append(group, r)
	}
	add(1, "a", 5)
	add(1, "b", 3)
	add(1, "c", 7)
	add(2, "a", 2)
	add(2, "b", 1)
	add(3, "a", 9)

	done, on := join.IDs(group)
	found := 0
	for _, r := range append(done, on...) {
		if r.Computed == canon.Sum([]byte{1}) {
			continue
		}
		if found++; r.Mark != join.MarkDuplicate || r.Related.Index != 3 {
			t.Errorf("the receipt at %d: %v, related to %d", r.Place.Index, r.Mark, r.Related.Index)
		}
	}
	if found != 3 {
		t.Errorf("%d receipts", found)
	}
}
