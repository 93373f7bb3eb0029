package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// minute returns a time that is later than the times of all receipts in other tests.
func minute(n int) time.Time { return time.Date(2026, 4, 26, 8, n, 0, 0, time.UTC) }

// various returns five drafts in two streams. The order of their times differs from the order of
// the drafts.
func various() []*receipt.Draft {
	drafts := []*receipt.Draft{Draft("r0", "w"), Draft("r1", "v"), Draft("r2", "w"), Draft("r3", "v"), Draft("r4", "w")}
	for i, of := range []struct{ task, subject, session string }{
		{"task_1", "task_1", "session_1"},
		{"task_2", "task_2", "session_1"},
		{"task_3", "task_1", "session_2"},    // part of a task that is not its subject
		{"task_10", "task_10", "session_10"}, // names that share a prefix with other names
		{"task_1", "task_4", "session_1"},
	} {
		d := drafts[i]
		d.Identifiers.TaskID, d.Identifiers.SessionID, d.Subject.ID = of.task, of.session, of.subject
		d.IssuedAt = receipt.At(minute([]int{0, 10, 5, 20, 15}[i]))
	}
	return drafts
}

// filter returns a test that lists the receipts that a query selects. These receipts must result
// from the drafts whose numbers are in want. The test also lists the receipts after each sequence
// number.
func filter(q ledger.Query, want ...int) func(*testing.T, func() ledger.Store) {
	return func(t *testing.T, handle func() ledger.Store) {
		store, other := handle(), listerOf(t, handle())
		heads := map[chain.Stream]chain.Head{}
		var ids []string
		for i, d := range various() {
			s := stream(d.Identifiers.WorkspaceRef)
			r := seal(t, d, heads[s])
			heads[s] = mustAppend(t, store, heads[s], r)
			if slices.Contains(want, i) {
				ids = append(ids, r.ID())
			}
		}

		found, sequences := listed(t, other, q, 0)
		if !slices.Equal(found, ids) {
			t.Fatalf("the query lists %q, expected %q", found, ids)
		}
		if q.Limit > 0 {
			return // a walk that starts later would reach other receipts within the limit
		}
		for i, after := range sequences {
			if rest, _ := listed(t, other, q, after); !slices.Equal(rest, ids[i+1:]) {
				t.Errorf("after the sequence of %s, the query lists %q, expected %q", ids[i], rest, ids[i+1:])
			}
		}
	}
}

// listed returns the IDs and the sequence numbers of the receipts that a query selects after a
// sequence number.
func listed(t *testing.T, l lister, q ledger.Query, after int64) (ids []string, sequences []int64) {
	t.Helper()
	for r, err := range l.Walk(t.Context(), q, after) {
		if err != nil {
			t.Fatal(err)
		}
		ids, sequences = append(ids, r.ID), append(sequences, r.Sequence)
	}
	return ids, sequences
}
