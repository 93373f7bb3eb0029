package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// rival verifies that no row is found as the rival of a receipt that follows its predecessor alone.
func rival(t *testing.T, handle func() ledger.Store) {
	store := handle()
	mustAppend(t, store, chain.Head{}, sealRun(t, chain.Head{}, "w", "receipt_1", "receipt_2", "receipt_3")...)
	mustAppend(t, store, chain.Head{}, seal(t, Draft("receipt_v", "v"), chain.Head{}))

	for _, id := range []string{"receipt_1", "receipt_2", "receipt_3", "receipt_v"} {
		r, err := ledger.Lookup(t.Context(), store, ledger.Key{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		if other, err := store.Find(t.Context(), ledger.Key{Rival: r.Sequence}); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("the rival of %s: the store returns %+v, %v, expected ErrNotFound", id, other, err)
		}
	}
}

// rows verifies that Find and Walk return every column that RowsOf has computed, and that a row
// does not change when other rows are read.
func rows(t *testing.T, handle func() ledger.Store) {
	store, other := handle(), handle()
	previous := map[chain.Stream]chain.Head{}
	var want []ledger.Row
	for i, d := range various() {
		d.IssuedAt = receipt.At(d.IssuedAt.Add(time.Duration(i+1) * 123 * time.Millisecond))
		d.Metadata = receipt.Object{"text": fmt.Sprint("the receipts have different lengths", i*i*1000)}
		if i == 3 {
			d.Subject.Object = "artifact"
		}

		s := stream(d.Identifiers.WorkspaceRef)
		r := seal(t, d, previous[s])
		computed, err := ledger.RowsOf(after(s, previous[s], r))
		if err != nil {
			t.Fatal(err)
		}
		previous[s] = mustAppend(t, store, previous[s], r)
		computed[0][0].Position = previous[s].Count
		want = append(want, computed[0][0])
	}

	var found []ledger.Row
	for _, w := range want {
		r, err := ledger.Lookup(t.Context(), other, ledger.Key{ID: w.ID})
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, *r)
	}
	wantRows(t, "Find", found, want)

	found = nil
	for r, err := range listerOf(t, other).Walk(t.Context(), ledger.Query{}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, r)
	}
	wantRows(t, "Walk", found, want)
}

// wantRows compares rows, except for their sequence numbers and places.
func wantRows(t *testing.T, method string, found, want []ledger.Row) {
	t.Helper()
	if len(found) != len(want) {
		t.Fatalf("%s returns %d rows, expected %d", method, len(found), len(want))
	}
	for i, r := range found {
		if r.Sequence, r.Place = 0, nil; !reflect.DeepEqual(r, want[i]) {
			t.Errorf("%s returns\n%+v\nexpected\n%+v", method, r, want[i])
		}
	}
}

// heads verifies the list of all streams.
func heads(t *testing.T, handle func() ledger.Store) {
	store := handle()
	r, ok := handle().(ledger.Reader)
	if !ok {
		t.Skip("the store does not list its streams")
	}
	if list, err := r.Streams(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("an empty store has the streams %v, %v, expected none", list, err)
	}

	// The streams are stored in an order that differs from the order of the list.
	names := []chain.Stream{
		{Issuer: "a", Workspace: "b"}, {Issuer: "a", Workspace: "c"}, {Issuer: "a", Tenant: "a", HasTenant: true, Workspace: "a"},
		{Issuer: "a", Tenant: "b", HasTenant: true, Workspace: "a"}, {Issuer: "b", Workspace: "a"},
	}
	want := make([]ledger.StreamHead, len(names))
	for _, i := range []int{3, 0, 4, 2, 1} {
		head := chain.Head{}
		for n := range i + 1 {
			d := Draft(fmt.Sprintf("receipt_%d_%d", i, n), names[i].Workspace)
			d.Issuer.ID, d.Identifiers.TenantID = names[i].Issuer, names[i].Tenant
			head = mustAppend(t, store, head, seal(t, d, head))
		}
		want[i] = ledger.StreamHead{Stream: names[i], Head: head, Last: head.Count}
	}

	if list, err := r.Streams(t.Context()); err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("Streams returns\n%+v, %v\nexpected\n%+v", list, err, want)
	}
	if list, err := ledger.Heads(t.Context(), r); err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("ledger.Heads returns\n%+v, %v\nexpected\n%+v", list, err, want)
	}
}

// appendWhileWalking verifies that the caller of Walk can use the store while it processes a
// receipt.
func appendWhileWalking(t *testing.T, handle func() ledger.Store) {
	store := listerOf(t, handle())
	head := mustAppend(t, store, chain.Head{}, sealRun(t, chain.Head{}, "w", "receipt_1", "receipt_2")...)

	done := make(chan error, 1)
	go func() {
		done <- func() error {
			for r, err := range store.Walk(t.Context(), ledger.Query{Limit: 2}, 0) {
				if err != nil {
					return err
				}
				next, err := receipt.Seal(Draft("after_"+r.ID, "w"), head)
				if err != nil {
					return err
				}
				if err := store.Append(t.Context(), after(stream("w"), head, next)); err != nil {
					return err
				}
				head = next.Head()
				if _, err := ledger.Get(t.Context(), store, next.ID()); err != nil {
					return err
				}
			}
			return nil
		}()
	}()

	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("Walk holds a lock while the caller processes a receipt")
	}
}
