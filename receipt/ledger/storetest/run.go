package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// run verifies that either all receipts of a run are stored or none of them.
func run(t *testing.T, handle func() ledger.Store) {
	store := handle()
	first := seal(t, Draft("receipt_0", "w"), chain.Head{})
	mustAppend(t, store, chain.Head{}, first)

	// If any receipt in a run is invalid, no receipt of the run may be stored.
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
		if err := store.Append(t.Context(), after(stream("w"), test.head, test.run...)); err == nil || test.want != nil && !errors.Is(err, test.want) {
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

// runOf returns a test that stores runs of n receipts with one handle and reads them with another
// handle.
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

// severalRuns verifies that either all runs of an append are stored, in order, or none of them.
func severalRuns(t *testing.T, handle func() ledger.Store) {
	store, other := handle(), handle()
	first, second := sealRun(t, chain.Head{}, "w", "w_1", "w_2"), sealRun(t, chain.Head{}, "v", "v_1")
	third := sealRun(t, first[1].Head(), "w", "w_3")

	moved := chain.Head{Hash: [32]byte{1}, Count: 1}
	for name, last := range map[string]struct {
		run  ledger.Run
		want error
	}{
		"the head of the last run moved": {after(stream("w"), moved, sealRun(t, moved, "w", "w_3")...), ledger.ErrHeadMoved},
		"an id is in two runs":           {after(stream("w"), first[1].Head(), sealRun(t, first[1].Head(), "w", "v_1")...), ledger.ErrDuplicateID},
	} {
		err := store.Append(t.Context(), after(stream("w"), chain.Head{}, first...), after(stream("v"), chain.Head{}, second...), last.run)
		if !errors.Is(err, last.want) {
			t.Errorf("%s: %v, expected %v", name, err, last.want)
		}
		for _, id := range []string{"w_1", "w_2", "w_3", "v_1"} {
			wantAbsent(t, other, id)
		}
	}

	if err := store.Append(t.Context(), after(stream("w"), chain.Head{}, first...), after(stream("v"), chain.Head{}, second...), after(stream("w"), first[1].Head(), third...)); err != nil {
		t.Fatal(err)
	}
	wantHead(t, other, stream("w"), third[0], 3)
	wantHead(t, other, stream("v"), second[0], 1)
	for _, r := range slices.Concat(first, second, third) {
		wantStored(t, other, r)
	}
}
