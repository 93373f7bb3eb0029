// Package storetest tests implementations of [ledger.Store].
package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// Run tests whether stores keep the promises of [ledger.Store]. Open returns an empty store; it may
// clean up with t.Cleanup. Reopen, if it is not nil, reopens a store that was just closed or lost,
// as after a restart.
func Run(t *testing.T, open func(t *testing.T) ledger.Store, reopen func(t *testing.T, old ledger.Store) ledger.Store) {
	s := suite{open}
	t.Run("empty", s.empty)
	t.Run("append", s.append)
	t.Run("head moved", s.headMoved)
	t.Run("duplicate id", s.duplicateID)
	t.Run("wrong place", s.wrongPlace)
	t.Run("streams", s.streams)
	t.Run("one winner", s.oneWinner)
	t.Run("run", s.run)
	t.Run("issuers", s.issuers)
	if reopen != nil {
		t.Run("restart", func(t *testing.T) { s.restart(t, reopen) })
	}
}

type suite struct{ open func(*testing.T) ledger.Store }

// Draft returns a valid draft in the stream of a workspace.
func Draft(id, workspace string) *receipt.Draft {
	at := receipt.At(time.Date(2026, 4, 25, 19, 0, 0, 0, time.UTC))
	return &receipt.Draft{
		ReceiptID: id, Subject: receipt.ResourceRef{Object: "task", ID: "task_" + id},
		Issuer: receipt.Issuer{ID: "harness_storetest", Kind: "harness"}, IssuedAt: at,
		Identifiers: receipt.Identifiers{WorkspaceRef: workspace, TaskID: "task_" + id, SessionID: "session_1"},
		Lifecycle:   receipt.Lifecycle{StartedAt: at, CompletedAt: at, FinalState: receipt.StateSucceeded},
		Trust:       receipt.TrustTiers{StartTier: "act_auto", EndTier: "act_auto"},
		ReplayInput: receipt.ReplayInput{Determinism: "unavailable"},
		ModelRoute:  receipt.ModelRoute{ChosenModel: receipt.Model{Provider: "none", Model: "none"}, RoutePolicyReason: "none"},
		Cost:        receipt.Cost{Currency: "USD"},
	}
}

func seal(t *testing.T, d *receipt.Draft, head chain.Head) *receipt.Sealed {
	t.Helper()
	s, err := receipt.Seal(d, head)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func stream(workspace string) chain.Stream {
	return chain.Stream{Issuer: "harness_storetest", Workspace: workspace}
}

// wantHead expects a head. If the store counts receipts, the count must be correct.
func wantHead(t *testing.T, store ledger.Store, s chain.Stream, want *receipt.Sealed, count uint64) {
	t.Helper()
	head, err := store.Head(context.Background(), s)
	switch {
	case err != nil:
		t.Fatal(err)
	case want == nil && !head.IsZero():
		t.Errorf("the head of %v is %v, expected none", s, head)
	case want != nil && (head.Hash != want.Hash() || head.Count != count && head.Count != 0):
		t.Errorf("the head of %v is %v, expected %v with the count %d", s, head, want.Hash(), count)
	}
}

func wantStored(t *testing.T, store ledger.Store, want *receipt.Sealed) {
	t.Helper()
	got, err := store.Get(context.Background(), want.ID())
	if err != nil {
		t.Errorf("%s: %v", want.ID(), err)
	} else if string(got.JSON()) != string(want.JSON()) {
		t.Errorf("%s: the store returns\n%s\nexpected\n%s", want.ID(), got.JSON(), want.JSON())
	}
}

func wantAbsent(t *testing.T, store ledger.Store, id string) {
	t.Helper()
	if got, err := store.Get(context.Background(), id); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("%s: the store returns %v, %v, expected ErrNotFound", id, got, err)
	}
}

func (s suite) empty(t *testing.T) {
	store := s.open(t)
	wantHead(t, store, stream("w"), nil, 0)
	wantAbsent(t, store, "receipt_1")
	wantAbsent(t, store, "")
}

func (s suite) append(t *testing.T) {
	store, ctx, head := s.open(t), context.Background(), chain.Head{}

	// Each receipt becomes the head.
	var all []*receipt.Sealed
	for i := range 5 {
		r := seal(t, Draft(fmt.Sprintf("receipt_%d", i), "w"), head)
		if err := store.Append(ctx, stream("w"), head, r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
		wantHead(t, store, stream("w"), r, uint64(i+1))
		head = r.Head()
	}

	// Earlier receipts stay readable.
	for _, r := range all {
		wantStored(t, store, r)
	}
}

func (s suite) headMoved(t *testing.T) {
	store, ctx := s.open(t), context.Background()
	first := seal(t, Draft("receipt_1", "w"), chain.Head{})
	if err := store.Append(ctx, stream("w"), chain.Head{}, first); err != nil {
		t.Fatal(err)
	}

	for name, head := range map[string]chain.Head{"none": {}, "another": {Hash: [32]byte{1}, Count: 1}} {
		r := seal(t, Draft("receipt_2", "w"), head)
		if err := store.Append(ctx, stream("w"), head, r); !errors.Is(err, ledger.ErrHeadMoved) {
			t.Errorf("behind %s: %v, expected ErrHeadMoved", name, err)
		}
	}

	wantAbsent(t, store, "receipt_2")
	wantHead(t, store, stream("w"), first, 1)

	r := seal(t, Draft("receipt_3", "empty"), first.Head())
	if err := store.Append(ctx, stream("empty"), first.Head(), r); !errors.Is(err, ledger.ErrHeadMoved) {
		t.Errorf("in an empty stream: %v, expected ErrHeadMoved", err)
	}
	wantHead(t, store, stream("empty"), nil, 0)

	// A wrong count moves no head.
	counted := chain.Head{Hash: first.Hash(), Count: 77}
	r = seal(t, Draft("receipt_2", "w"), counted)
	if err := store.Append(ctx, stream("w"), counted, r); err != nil {
		t.Errorf("only the hash of a head counts: %v", err)
	}
}

func (s suite) duplicateID(t *testing.T) {
	store, ctx := s.open(t), context.Background()
	first := seal(t, Draft("receipt_1", "w"), chain.Head{})
	if err := store.Append(ctx, stream("w"), chain.Head{}, first); err != nil {
		t.Fatal(err)
	}

	again := seal(t, Draft("receipt_1", "w"), first.Head())
	if err := store.Append(ctx, stream("w"), first.Head(), again); !errors.Is(err, ledger.ErrDuplicateID) {
		t.Errorf("the same id in the stream: %v, expected ErrDuplicateID", err)
	}

	other := seal(t, Draft("receipt_1", "v"), chain.Head{})
	if err := store.Append(ctx, stream("v"), chain.Head{}, other); !errors.Is(err, ledger.ErrDuplicateID) {
		t.Errorf("the same id in another stream: %v, expected ErrDuplicateID", err)
	}

	// The refused receipts changed nothing.
	wantHead(t, store, stream("w"), first, 1)
	wantHead(t, store, stream("v"), nil, 0)
	wantStored(t, store, first)
}

// wrongPlace verifies that a store refuses a receipt that does not follow the head of its own
// stream, whatever the caller claims.
func (s suite) wrongPlace(t *testing.T) {
	store, ctx := s.open(t), context.Background()
	first := seal(t, Draft("receipt_1", "w"), chain.Head{})
	if err := store.Append(ctx, stream("v"), chain.Head{}, first); err == nil {
		t.Error("a receipt of another stream was stored")
	}
	wantAbsent(t, store, "receipt_1")

	if err := store.Append(ctx, stream("w"), chain.Head{}, first); err != nil {
		t.Fatal(err)
	}

	// Nor does it store a receipt with another predecessor than its head.
	second := seal(t, Draft("receipt_2", "w"), chain.Head{Hash: [32]byte{1}})
	if err := store.Append(ctx, stream("w"), first.Head(), second); err == nil {
		t.Error("a receipt that names another predecessor was stored")
	}
	wantAbsent(t, store, "receipt_2")
	wantHead(t, store, stream("w"), first, 1)
}

// streams verifies that an absent tenant differs from an empty one, and that names differ that only
// look alike when they are concatenated.
func (s suite) streams(t *testing.T) {
	store, ctx := s.open(t), context.Background()
	names := []chain.Stream{
		{Issuer: "a", Workspace: "b"}, {Issuer: "a", Workspace: "c"}, {Issuer: "b", Workspace: "b"},
		{Issuer: "a", Tenant: "t", HasTenant: true, Workspace: "b"}, {Issuer: "a", Tenant: "b", HasTenant: true, Workspace: "t"},
		{Issuer: "a/b", Workspace: "c"}, {Issuer: "a", Workspace: "b/c"}, {Issuer: "A", Workspace: "b"}, {Issuer: "a", Workspace: "b "},
	}

	var all []*receipt.Sealed

	// Each stream begins with a receipt of its own.
	for i, name := range names {
		d := Draft(fmt.Sprintf("receipt_%d", i), name.Workspace)
		d.Issuer.ID, d.Identifiers.TenantID = name.Issuer, name.Tenant
		r := seal(t, d, chain.Head{})
		if r.Stream() != name {
			t.Fatalf("the receipt is of %v, expected %v", r.Stream(), name)
		}
		if err := store.Append(ctx, name, chain.Head{}, r); err != nil {
			t.Errorf("%v: %v", name, err)
		}
		all = append(all, r)
	}

	for i, name := range names {
		wantHead(t, store, name, all[i], 1)
	}
}

// oneWinner verifies that if many append after one head at the same time, one succeeds.
func (s suite) oneWinner(t *testing.T) {
	store, ctx, head := s.open(t), context.Background(), chain.Head{}
	for round := range 5 {
		var won atomic.Int32
		var winner atomic.Pointer[receipt.Sealed]
		var group sync.WaitGroup
		for i := range 8 {
			r := seal(t, Draft(fmt.Sprintf("receipt_%d_%d", round, i), "w"), head)
			group.Go(func() {
				switch err := store.Append(ctx, stream("w"), head, r); {
				case err == nil:
					won.Add(1)
					winner.Store(r)
				case !errors.Is(err, ledger.ErrHeadMoved):
					t.Errorf("%v, expected ErrHeadMoved", err)
				}
			})
		}

		// The others get ErrHeadMoved, and none of them is stored.
		group.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d appended behind one head, expected 1", won.Load())
		}
		head = winner.Load().Head()
		wantHead(t, store, stream("w"), winner.Load(), uint64(round+1))
	}
}

// run verifies that a run is stored completely or not at all.
func (s suite) run(t *testing.T) {
	ctx, store := context.Background(), s.open(t)
	first := seal(t, Draft("receipt_0", "w"), chain.Head{})
	if err := store.Append(ctx, stream("w"), chain.Head{}, first); err != nil {
		t.Fatal(err)
	}

	made := func(head chain.Head, ids ...string) (run []*receipt.Sealed) {
		for _, id := range ids {
			r := seal(t, Draft(id, "w"), head)
			run, head = append(run, r), r.Head()
		}
		return run
	}

	// If any receipt of a run is invalid, none of the run is stored.
	good := made(first.Head(), "receipt_1", "receipt_2", "receipt_3")
	gap := []*receipt.Sealed{good[0], good[2]}
	for name, test := range map[string]struct {
		head chain.Head
		run  []*receipt.Sealed
		want error // nil: any
	}{
		"behind none":       {chain.Head{}, made(chain.Head{}, "receipt_1", "receipt_2"), ledger.ErrHeadMoved},
		"an id is taken":    {first.Head(), made(first.Head(), "receipt_1", "receipt_0"), ledger.ErrDuplicateID},
		"an id comes twice": {first.Head(), made(first.Head(), "receipt_1", "receipt_2", "receipt_1"), ledger.ErrDuplicateID},
		"a gap":             {first.Head(), gap, nil},
	} {
		if err := store.Append(ctx, stream("w"), test.head, test.run...); err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: %v, expected %v", name, err, test.want)
		}
		for _, id := range []string{"receipt_1", "receipt_2", "receipt_3"} {
			wantAbsent(t, store, id)
		}
		wantHead(t, store, stream("w"), first, 1)
	}

	if err := store.Append(ctx, stream("w"), first.Head(), good...); err != nil {
		t.Fatal(err)
	}
	for _, r := range good {
		wantStored(t, store, r)
	}
	wantHead(t, store, stream("w"), good[2], 4)
}

// issuers: two issuers, each with many goroutines, make one chain, and each
// draft that is repeated gets its receipt again.
func (s suite) issuers(t *testing.T) {
	store, ctx := s.open(t), context.Background()
	const goroutines, each = 6, 10
	hashes := make([]map[string]string, goroutines)
	var group sync.WaitGroup

	for half := range 2 {
		issuer := &ledger.Issuer{Store: store, KeepSecrets: true, Unsigned: true}
		for g := half; g < goroutines; g += 2 {
			hashes[g] = map[string]string{}
			group.Go(func() {
				for i := range each {
					id := fmt.Sprintf("receipt_%d_%d", g, i)
					r, err := issuer.Issue(ctx, Draft(id, "w"))
					if err != nil {
						t.Error(err)
						return
					}
					hashes[g][id] = r.Hash().String()
				}
			})
		}
	}
	group.Wait()

	// Every draft again: the same receipt, and no two with one predecessor.
	follows := map[string]string{} // predecessor to hash
	issuer := &ledger.Issuer{Store: store, KeepSecrets: true, Unsigned: true}
	for g := range hashes {
		for id, hash := range hashes[g] {
			r, err := issuer.Issue(ctx, Draft(id, "w"))
			if err != nil || r.Hash().String() != hash {
				t.Errorf("%s again: %v, %v, expected %s", id, r, err, hash)
				continue
			}
			previous := previousOf(t, r)
			if follows[previous] != "" {
				t.Errorf("two receipts follow %s", previous)
			}
			follows[previous] = hash
		}
	}

	// From the beginning the chain leads through all of them.
	at, n := "", 0
	for ; follows[at] != ""; n++ {
		at = follows[at]
	}
	if n != goroutines*each {
		t.Errorf("the chain has %d receipts, expected %d", n, goroutines*each)
	}

	other := Draft("receipt_0_0", "w")
	other.Metadata = receipt.Object{"changed": true}
	if _, err := issuer.Issue(ctx, other); !errors.Is(err, ledger.ErrDuplicateID) {
		t.Errorf("another content: %v, expected ErrDuplicateID", err)
	}
}

func (s suite) restart(t *testing.T, reopen func(*testing.T, ledger.Store) ledger.Store) {
	store, ctx := s.open(t), context.Background()
	first := seal(t, Draft("receipt_1", "w"), chain.Head{})
	if err := store.Append(ctx, stream("w"), chain.Head{}, first); err != nil {
		t.Fatal(err)
	}
	store = reopen(t, store)
	wantStored(t, store, first)
	wantHead(t, store, stream("w"), first, 1)
}
