package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A deaf store performs appends, but loses their results.
type deaf struct{ ledger.Store }

var errLost = errors.New("storetest: the answer was lost")

func (d deaf) Append(ctx context.Context, runs ...ledger.Run) error {
	return errors.Join(errLost, d.Store.Append(ctx, runs...))
}

// lostAnswers verifies that, if a receipt was stored without the caller's knowledge, issuing the
// same draft again returns the stored receipt. This must work with any handle, even after other
// receipts have been stored.
func lostAnswers(t *testing.T, handle func() ledger.Store) {
	store, other, ctx := handle(), handle(), t.Context()
	var all []*receipt.Sealed
	for i := range 5 {
		id := fmt.Sprintf("receipt_%d", i)
		if _, err := unsigned(deaf{store}).Issue(ctx, Draft(id, "w")); !errors.Is(err, errLost) {
			t.Fatalf("%v, expected the error of the connection", err)
		}
		between, err := unsigned(other).Issue(ctx, Draft("between_"+id, "w"))
		if err != nil {
			t.Fatal(err)
		}

		for n, s := range []ledger.Store{store, other} { // this may be the same handle
			again, err := unsigned(s).Issue(ctx, Draft(id, "w"))
			if err != nil {
				t.Fatalf("%s again: %v", id, err)
			}
			wantStored(t, s, again)
			if n == 0 {
				all = append(all, again, between)
			}
		}
	}
	wantChain(t, other, all, 10)
}

// canceled verifies that, if the context has ended, methods do nothing and return the context's
// error.
func canceled(t *testing.T, handle func() ledger.Store) {
	store := handle()
	first := seal(t, Draft("receipt_1", "w"), chain.Head{})
	mustAppend(t, store, chain.Head{}, first)

	past, stop := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer stop()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, test := range []struct {
		ctx  context.Context
		want error
	}{{ended, context.Canceled}, {past, context.DeadlineExceeded}} {
		if head, err := store.Head(test.ctx, stream("w")); !errors.Is(err, test.want) {
			t.Errorf("Head returns %v, %v, expected %v", head, err, test.want)
		}
		if r, err := ledger.Get(test.ctx, store, "receipt_1"); !errors.Is(err, test.want) {
			t.Errorf("Get returns %v, %v, expected %v", r, err, test.want)
		}

		r := seal(t, Draft("receipt_2", "w"), first.Head())
		if err := store.Append(test.ctx, after(stream("w"), first.Head(), r)); !errors.Is(err, test.want) {
			t.Errorf("Append returns %v, expected %v", err, test.want)
		}
		wantAbsent(t, store, "receipt_2")
		wantHead(t, store, stream("w"), first, 1)
	}
}

// canceledMeanwhile cancels appends at every stage. If the error states that nothing was stored,
// nothing must have been stored. After any other error, issuing the same draft must return the
// receipt, regardless of whether it was stored.
func canceledMeanwhile(t *testing.T, handle func() ledger.Store) {
	const rounds = 100
	store, other, head := handle(), handle(), chain.Head{}
	var all []*receipt.Sealed

	// The first appends are not canceled, so that they show how long an append takes.
	began := time.Now()
	for i := range 3 {
		r := seal(t, Draft(fmt.Sprintf("receipt_first_%d", i), "w"), head)
		head = mustAppend(t, store, head, r)
		all = append(all, r)
	}
	takes := time.Since(began)/3 + time.Microsecond

	for i := range rounds {
		r := seal(t, Draft(fmt.Sprintf("receipt_%d", i), "w"), head)
		ctx, cancel := context.WithCancel(context.Background())
		timer := time.AfterFunc(rand.N(takes*2), cancel)
		err := store.Append(ctx, after(stream("w"), head, r))
		timer.Stop()
		cancel()

		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("a canceled append returns %v, expected context.Canceled", err)
		}
		switch {
		case err == nil:
			wantStored(t, other, r)
		case errors.Is(err, ledger.ErrNotStored), errors.Is(err, ledger.ErrHeadMoved), errors.Is(err, ledger.ErrDuplicateID):
			wantAbsent(t, other, r.ID())
		}

		again, err := unsigned(other).Issue(context.Background(), Draft(r.ID(), "w"))
		if err != nil {
			t.Fatalf("%s again: %v", r.ID(), err)
		}
		head = again.Head()
		all = append(all, again)
	}
	wantChain(t, other, all, rounds+3)
}
