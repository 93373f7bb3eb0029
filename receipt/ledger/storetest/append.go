package storetest

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

func empty(t *testing.T, handle func() ledger.Store) {
	store := handle()
	wantHead(t, store, stream("w"), nil, 0)
	wantAbsent(t, store, "receipt_1")
	wantAbsent(t, store, "")
}

func appends(t *testing.T, handle func() ledger.Store) {
	store, head := handle(), chain.Head{}

	// Each receipt must become the head.
	var all []*receipt.Sealed
	for i := range 5 {
		r := seal(t, Draft(fmt.Sprintf("receipt_%d", i), "w"), head)
		head = mustAppend(t, store, head, r)
		all = append(all, r)
		wantHead(t, store, stream("w"), r, uint64(i+1))
	}

	// Earlier receipts must remain readable.
	for _, r := range all {
		wantStored(t, store, r)
	}
}

func headMoved(t *testing.T, handle func() ledger.Store) {
	store, ctx := handle(), t.Context()
	first := seal(t, Draft("receipt_1", "w"), chain.Head{})
	mustAppend(t, store, chain.Head{}, first)

	for name, head := range map[string]chain.Head{"none": {}, "another": {Hash: [32]byte{1}, Count: 1}} {
		r := seal(t, Draft("receipt_2", "w"), head)
		if err := store.Append(ctx, after(stream("w"), head, r)); !errors.Is(err, ledger.ErrHeadMoved) {
			t.Errorf("after the head %s: %v, expected ErrHeadMoved", name, err)
		}
	}

	wantAbsent(t, store, "receipt_2")
	wantHead(t, store, stream("w"), first, 1)

	r := seal(t, Draft("receipt_3", "empty"), first.Head())
	if err := store.Append(ctx, after(stream("empty"), first.Head(), r)); !errors.Is(err, ledger.ErrHeadMoved) {
		t.Errorf("in an empty stream: %v, expected ErrHeadMoved", err)
	}
	wantHead(t, store, stream("empty"), nil, 0)

	// A head with an incorrect count must not be treated as a head that has moved.
	counted := chain.Head{Hash: first.Hash(), Count: 77}
	r = seal(t, Draft("receipt_2", "w"), counted)
	if err := store.Append(ctx, after(stream("w"), counted, r)); err != nil {
		t.Errorf("only the hash of a head is compared: %v", err)
	}
}

func duplicateID(t *testing.T, handle func() ledger.Store) {
	store, ctx := handle(), t.Context()
	first := seal(t, Draft("receipt_1", "w"), chain.Head{})
	mustAppend(t, store, chain.Head{}, first)

	again := seal(t, Draft("receipt_1", "w"), first.Head())
	if err := store.Append(ctx, after(stream("w"), first.Head(), again)); !errors.Is(err, ledger.ErrDuplicateID) {
		t.Errorf("the same id in the stream: %v, expected ErrDuplicateID", err)
	}

	// If an append is repeated, the error must be about the duplicate ID rather than the head, so
	// that the caller finds the stored receipt.
	if err := store.Append(ctx, after(stream("w"), chain.Head{}, first)); !errors.Is(err, ledger.ErrDuplicateID) {
		t.Errorf("the same append: %v, expected ErrDuplicateID", err)
	}

	other := seal(t, Draft("receipt_1", "v"), chain.Head{})
	if err := store.Append(ctx, after(stream("v"), chain.Head{}, other)); !errors.Is(err, ledger.ErrDuplicateID) {
		t.Errorf("the same id in another stream: %v, expected ErrDuplicateID", err)
	}

	// Receipts that were refused must have no effect.
	wantHead(t, store, stream("w"), first, 1)
	wantHead(t, store, stream("v"), nil, 0)
	wantStored(t, store, first)
}

// wrongPlace verifies that, regardless of the arguments of Append, a store refuses a receipt that
// does not follow the head of the receipt's own stream.
func wrongPlace(t *testing.T, handle func() ledger.Store) {
	store, ctx := handle(), t.Context()
	first := seal(t, Draft("receipt_1", "w"), chain.Head{})
	if err := store.Append(ctx, after(stream("v"), chain.Head{}, first)); err == nil {
		t.Error("a receipt of another stream was stored")
	}
	wantAbsent(t, store, "receipt_1")
	mustAppend(t, store, chain.Head{}, first)

	second := seal(t, Draft("receipt_2", "w"), chain.Head{Hash: [32]byte{1}})
	if err := store.Append(ctx, after(stream("w"), first.Head(), second)); err == nil {
		t.Error("a receipt that names another predecessor was stored")
	}
	wantAbsent(t, store, "receipt_2")
	wantHead(t, store, stream("w"), first, 1)
}

// reopened verifies that receipts remain stored after the handle that stored them has been closed.
func reopened(t *testing.T, handle func() ledger.Store) {
	first := seal(t, Draft("receipt_1", "w"), chain.Head{})
	store := handle()
	mustAppend(t, store, chain.Head{}, first)
	if c, ok := store.(io.Closer); ok {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}

	store = handle()
	wantStored(t, store, first)
	wantHead(t, store, stream("w"), first, 1)
}

// find verifies that each key of a row selects that row, that the row matches the result of RowsOf,
// and that other keys select nothing.
func find(t *testing.T, handle func() ledger.Store) {
	store, other, ctx := handle(), handle(), t.Context()
	run := sealRun(t, chain.Head{}, "w", "receipt_1", "receipt_2")
	mustAppend(t, store, chain.Head{}, run...)
	rows, err := ledger.RowsOf(after(stream("w"), chain.Head{}, run...))
	if err != nil {
		t.Fatal(err)
	}

	for i, want := range rows[0] {
		for name, k := range map[string]ledger.Key{"ID": {ID: want.ID}, "hash": {Hash: want.Hash}, "position": {Stream: want.Stream, Position: uint64(i) + 1}} {
			got, err := ledger.Lookup(ctx, other, k)
			if err != nil {
				t.Errorf("%s, by its %s: %v", want.ID, name, err)
				continue
			}
			sequence, position := got.Sequence, got.Position
			got.Sequence, got.Position, got.Place = 0, 0, nil
			if !reflect.DeepEqual(*got, want) || sequence < 1 || position != uint64(i)+1 {
				t.Errorf("%s, by its %s: the store returns\n%+v\nexpected\n%+v", want.ID, name, *got, want)
			}
		}
	}
	for name, k := range map[string]ledger.Key{
		"the zero key": {}, "an ID": {ID: "receipt_3"}, "a hash": {Hash: [32]byte{1}}, "a position": {Stream: stream("w"), Position: 3}, "a stream": {Stream: stream("v"), Position: 1},
	} {
		if r, err := other.Find(ctx, k); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("%s that is not there: the store returns %+v, %v, expected ErrNotFound", name, r, err)
		}
	}
}

// findSees verifies that rows in streams that a key excludes are not found.
func findSees(t *testing.T, handle func() ledger.Store) {
	store := handle()
	first := seal(t, Draft("receipt_1", "w"), chain.Head{})
	mustAppend(t, store, chain.Head{}, first)
	for _, k := range []ledger.Key{{ID: first.ID()}, {Hash: first.Hash()}, {Stream: first.Stream(), Position: 1}} {
		for _, sees := range []bool{true, false} {
			var asked []chain.Stream
			k.Sees = func(s chain.Stream) bool { asked = append(asked, s); return sees }
			_, err := store.Find(t.Context(), k)
			if errors.Is(err, ledger.ErrNotFound) == sees || err != nil && sees {
				t.Errorf("a key that excludes its stream: %v: %v", !sees, err)
			}
			if len(asked) == 0 || asked[0] != first.Stream() {
				t.Errorf("Sees was called with %v, expected the stream of the row", asked)
			}
		}
	}
}
