package storetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A lister is the part of [ledger.Reader] that yields receipts. The receipts of a walk must be a
// prefix of every later walk, and a walk after a sequence number must include everything that is
// stored later.
type lister interface {
	ledger.Store
	Walk(ctx context.Context, q ledger.Query, after int64) iter.Seq2[ledger.Row, error]
}

func listerOf(t *testing.T, store ledger.Store) lister {
	t.Helper()
	l, ok := store.(lister)
	if !ok {
		t.Skip("the store does not list its receipts")
	}
	return l
}

// order verifies that receipts are listed in the order in which they were stored, and that the
// receipts of a run are listed in chain order.
func order(t *testing.T, handle func() ledger.Store) {
	store, ctx := listerOf(t, handle()), t.Context()
	heads := map[string]chain.Head{}
	var want []*receipt.Sealed
	for round, n := range []int{3, 1, 128, 2, 60} {
		workspace := fmt.Sprint("w", round%2)
		run := sealRun(t, heads[workspace], workspace, numbered(fmt.Sprintf("receipt_%d", round), n)...)
		heads[workspace] = mustAppend(t, store, heads[workspace], run...)
		want = append(want, run...)
	}

	var cursors []int64
	n := 0
	for e, err := range store.Walk(ctx, ledger.Query{}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n == len(want) || e.ID != want[n].ID() || e.Hash != want[n].Hash() || string(e.JSON) != string(want[n].JSON()) || e.Stream != want[n].Stream() {
			t.Fatalf("receipt %d of the list is %s of %v with the hash %v, expected those of the run that was stored", n, e.ID, e.Stream, e.Hash)
		}
		cursors = append(cursors, e.Sequence)
		n++
	}
	if n != len(want) {
		t.Fatalf("the list has %d receipts, expected %d", n, len(want))
	}

	// A walk after each sequence number must continue with the next receipt.
	for i, cursor := range cursors {
		for e, err := range store.Walk(ctx, ledger.Query{}, cursor) {
			if err != nil || i+1 == len(want) || e.Hash != want[i+1].Hash() {
				t.Fatalf("after the sequence of receipt %d: %s, %v", i, e.ID, err)
			}
			break
		}
	}

	ended, cancel := context.WithCancel(ctx)
	cancel()
	for e, err := range store.Walk(ended, ledger.Query{}, 0) {
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("with a canceled context: %s, %v", e.ID, err)
		}
	}
}

// prefix verifies lists that are made while several handles append runs of different sizes, and
// therefore at different speeds. Every list must begin with each earlier list and contain all
// receipts that were acknowledged before the list was made. Walking from one sequence number to the
// next must result in the same list.
func prefix(t *testing.T, handle func() ledger.Store) {
	w := &witness{acknowledged: map[canon.Digest]bool{}}
	reading, following := listerOf(t, handle()), listerOf(t, handle())

	// Long runs, which take longer, are stored in two streams, and single receipts are stored in
	// two other streams.
	var writing sync.WaitGroup
	for _, writer := range []struct {
		workspace  string
		size, runs int
	}{{"long_1", 128, 6}, {"long_2", 127, 6}, {"short_1", 1, 30}, {"short_2", 2, 30}} {
		store := handle()
		var runs [][]*receipt.Sealed
		var head chain.Head
		for i := range writer.runs {
			run := sealRun(t, head, writer.workspace, numbered(fmt.Sprintf("%s_%d", writer.workspace, i), writer.size)...)
			runs, head = append(runs, run), run[len(run)-1].Head()
		}
		writing.Go(func() { w.write(t, store, runs) })
	}
	done := make(chan struct{})
	go func() {
		writing.Wait()
		close(done)
	}()

	// The last list is made after the last append.
	var followed []canon.Digest
	cursor := int64(0)
	for last := false; !last; {
		select {
		case <-done:
			last = true
		case <-time.After(time.Millisecond):
		}
		w.look(t, reading)
		for e, err := range following.Walk(t.Context(), ledger.Query{}, cursor) {
			if err != nil {
				t.Fatal(err)
			}
			followed, cursor = append(followed, e.Hash), e.Sequence
		}
		if t.Failed() {
			break
		}
	}
	writing.Wait()

	if !t.Failed() && !slices.Equal(followed, w.seen) {
		t.Errorf("following the sequences yields %d receipts, but a list from the beginning yields %d, or different ones", len(followed), len(w.seen))
	}
	if !t.Failed() && len(w.seen) != len(w.acknowledged) {
		t.Errorf("the list has %d receipts, %d were acknowledged", len(w.seen), len(w.acknowledged))
	}
}

// A witness records which receipts were stored and which were listed.
type witness struct {
	mu           sync.Mutex
	acknowledged map[canon.Digest]bool
	seen         []canon.Digest // hashes of the receipts in the last list
}

// write appends runs to a stream.
func (w *witness) write(t *testing.T, store ledger.Store, runs [][]*receipt.Sealed) {
	head := chain.Head{}
	for _, run := range runs {
		last := run[len(run)-1]
		if err := store.Append(context.Background(), after(last.Stream(), head, run...)); err != nil {
			t.Error(err)
			return
		}
		head = last.Head()

		w.mu.Lock()
		for _, r := range run {
			w.acknowledged[r.Hash()] = true
		}
		w.mu.Unlock()
	}
}

// look lists all receipts and compares the list with the previous one.
func (w *witness) look(t *testing.T, l lister) {
	w.mu.Lock()
	stored := make(map[canon.Digest]bool, len(w.acknowledged))
	for hash := range w.acknowledged {
		stored[hash] = true
	}
	w.mu.Unlock()

	var list []canon.Digest
	for e, err := range l.Walk(t.Context(), ledger.Query{}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e.Hash)
		delete(stored, e.Hash)
	}

	if len(list) < len(w.seen) || !slices.Equal(list[:len(w.seen)], w.seen) {
		t.Errorf("a list of %d receipts does not begin with the %d that were listed before", len(list), len(w.seen))
	}
	if len(stored) > 0 {
		t.Errorf("a list of %d receipts lacks %d that were acknowledged before", len(list), len(stored))
	}
	w.seen = list
}
