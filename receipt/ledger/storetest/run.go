package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// run verifies that a run is stored completely or not at all.
func run(t *testing.T, handle func() ledger.Store) {
	store := handle()
	first := seal(t, Draft("receipt_0", "w"), chain.Head{})
	mustAppend(t, store, chain.Head{}, first)

	// If any receipt of a run is invalid, none of the run is stored.
	good := sealRun(t, first.Head(), "w", "receipt_1", "receipt_2", "receipt_3")
	for name, test := range map[string]struct {
		head chain.Head
		run  []*receipt.Sealed
		want error // nil: any
	}{
		"after no head":    {chain.Head{}, sealRun(t, chain.Head{}, "w", "receipt_1", "receipt_2"), ledger.ErrHeadMoved},
		"an id is taken":   {first.Head(), sealRun(t, first.Head(), "w", "receipt_1", "receipt_0"), ledger.ErrDuplicateID},
		"an id is twice":   {first.Head(), sealRun(t, first.Head(), "w", "receipt_1", "receipt_2", "receipt_1"), ledger.ErrDuplicateID},
		"a gap":            {first.Head(), []*receipt.Sealed{good[0], good[2]}, nil},
		"the wrong order":  {first.Head(), []*receipt.Sealed{good[0], good[2], good[1]}, nil},
		"a gap before all": {first.Head(), good[1:], nil},
	} {
		if err := store.Append(t.Context(), stream("w"), test.head, test.run...); err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: %v, expected %v", name, err, test.want)
		}
		for _, id := range []string{"receipt_1", "receipt_2", "receipt_3"} {
			wantAbsent(t, store, id)
		}
		wantHead(t, store, stream("w"), first, 1)
	}

	mustAppend(t, store, first.Head(), good...)
	for _, r := range good {
		wantStored(t, store, r)
	}
	wantHead(t, store, stream("w"), good[2], 4)
}

// runOf returns a test that stores runs of n receipts with one handle, and reads them with another.
func runOf(n int) func(*testing.T, func() ledger.Store) {
	return func(t *testing.T, handle func() ledger.Store) {
		store, other, head := handle(), handle(), chain.Head{}
		var all []*receipt.Sealed
		for round := range 2 {
			run := sealRun(t, head, "w", numbered(fmt.Sprintf("receipt_%d", round), n)...)
			head = mustAppend(t, store, head, run...)
			all = append(all, run...)
			wantHead(t, other, stream("w"), all[len(all)-1], uint64(len(all)))
		}

		for _, r := range all {
			wantStored(t, other, r)
		}
	}
}
