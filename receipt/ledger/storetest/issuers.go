package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// oneWinner verifies that exactly one of several concurrent appends to the same head succeeds.
func oneWinner(t *testing.T, handle func() ledger.Store) {
	store, head := handle(), chain.Head{}
	for round := range 5 {
		winner := race(t, head, fmt.Sprintf("receipt_%d", round), store, store, store, store, store, store, store, store)
		head = winner.Head()
		wantHead(t, store, stream("w"), winner, uint64(round+1))
	}
}

// twoHandles verifies that one handle cannot fork a stream that another handle has extended, even
// if the first handle has read or stored older heads.
func twoHandles(t *testing.T, handle func() ledger.Store) {
	a, b := handle(), handle()
	wantHead(t, b, stream("w"), nil, 0)
	first := seal(t, Draft("receipt_a", "w"), chain.Head{})
	mustAppend(t, a, chain.Head{}, first)

	// Handle b has read an empty stream.
	fork := seal(t, Draft("receipt_b", "w"), chain.Head{})
	if err := b.Append(t.Context(), after(stream("w"), chain.Head{}, fork)); !errors.Is(err, ledger.ErrHeadMoved) {
		t.Fatalf("another handle appends after an old head: %v, expected ErrHeadMoved", err)
	}
	wantAbsent(t, a, "receipt_b")
	wantHead(t, b, stream("w"), first, 1)

	// The handles alternate, and each of them stores a receipt after the receipt of the other
	// handle.
	head := first.Head()
	for i := range 6 {
		here, there := a, b
		if i%2 == 0 {
			here, there = b, a
		}
		r := seal(t, Draft(fmt.Sprintf("receipt_%d", i), "w"), head)
		before := head
		head = mustAppend(t, here, before, r)
		wantStored(t, there, r)
		wantHead(t, there, stream("w"), r, uint64(i+2))
		if err := here.Append(t.Context(), after(stream("w"), before, r)); !errors.Is(err, ledger.ErrDuplicateID) {
			t.Errorf("the same receipt again: %v, expected ErrDuplicateID", err)
		}
	}

	for round := range 10 {
		winner := race(t, head, fmt.Sprintf("receipt_round_%d", round), a, b, a, b)
		head = winner.Head()
		wantHead(t, a, stream("w"), winner, uint64(round+8))
		wantHead(t, b, stream("w"), winner, uint64(round+8))
	}
}

// race appends a different receipt to the same head with each handle, and returns the receipt that
// was stored.
func race(t *testing.T, head chain.Head, prefix string, handles ...ledger.Store) *receipt.Sealed {
	t.Helper()
	var won atomic.Int32
	var winner atomic.Pointer[receipt.Sealed]
	var group sync.WaitGroup
	all := make([]*receipt.Sealed, len(handles))
	for i, store := range handles {
		r := seal(t, Draft(fmt.Sprintf("%s_%d", prefix, i), "w"), head)
		all[i] = r
		group.Go(func() {
			switch err := store.Append(context.Background(), after(stream("w"), head, r)); {
			case err == nil:
				won.Add(1)
				winner.Store(r)
			case !errors.Is(err, ledger.ErrHeadMoved):
				t.Errorf("%v, expected ErrHeadMoved", err)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d of %d appends after one head succeeded, expected 1", won.Load(), len(handles))
	}

	for _, r := range all {
		if r != winner.Load() {
			wantAbsent(t, handles[0], r.ID())
		}
	}
	return winner.Load()
}

// issuers verifies that two issuers on two handles, each with several goroutines, create a single
// chain, and that repeated drafts return the same receipts.
func issuers(t *testing.T, handle func() ledger.Store) {
	const goroutines, each = 6, 10
	stores := []ledger.Store{handle(), handle()}
	issued := make([][]*receipt.Sealed, goroutines)
	var group sync.WaitGroup

	for half, store := range stores {
		issuer := unsigned(store)
		for g := half; g < goroutines; g += len(stores) {
			group.Go(func() {
				for i := range each {
					r, err := issuer.Issue(context.Background(), Draft(fmt.Sprintf("receipt_%d_%d", g, i), "w"))
					if err != nil {
						t.Error(err)
						return
					}
					issued[g] = append(issued[g], r)
				}
			})
		}
	}
	group.Wait()

	// Every draft is issued again, by the other issuer.
	var all []*receipt.Sealed
	for g := range issued {
		issuer := unsigned(stores[(g+1)%len(stores)])
		for _, r := range issued[g] {
			again, err := issuer.Issue(context.Background(), Draft(r.ID(), "w"))
			if err != nil || again.Hash() != r.Hash() {
				t.Errorf("%s again: %v, %v, expected %v", r.ID(), again, err, r.Hash())
			}
			all = append(all, r)
		}
	}
	wantChain(t, stores[1], all, goroutines*each)

	other := Draft("receipt_0_0", "w")
	other.Metadata = receipt.Object{"changed": true}
	if _, err := unsigned(stores[1]).Issue(context.Background(), other); !errors.Is(err, ledger.ErrDuplicateID) {
		t.Errorf("another content: %v, expected ErrDuplicateID", err)
	}
}

func unsigned(store ledger.Store) *ledger.Issuer {
	return &ledger.Issuer{Store: store, KeepSecrets: true, Unsigned: true}
}

// wantChain verifies that the n receipts in the stream "w", in any order, form a single chain that
// ends at the head in the store.
func wantChain(t *testing.T, store ledger.Store, all []*receipt.Sealed, n int) {
	t.Helper()
	follows := map[chain.Head]*receipt.Sealed{} // key: the predecessor, without its number
	for _, r := range all {
		link, ok := chain.LinkOf(r.Document())
		if !ok {
			t.Fatalf("%s has no link", r.ID())
		}
		previous := chain.Head{Hash: link.Previous}
		if other := follows[previous]; other != nil {
			t.Errorf("%s and %s follow the same receipt %v", r.ID(), other.ID(), link.Previous)
		}
		follows[previous] = r
	}

	var last *receipt.Sealed
	length := 0
	for at := (chain.Head{}); follows[at] != nil; length++ {
		last = follows[at]
		at = chain.Head{Hash: last.Hash()}
	}
	if length != n || len(all) != n {
		t.Errorf("the chain has %d of %d receipts, expected %d", length, len(all), n)
	}
	wantHead(t, store, stream("w"), last, uint64(n))
}
