// Package storetest tests implementations of [ledger.Store].
//
// Several handles to the same store simulate several processes. After one handle has stored a
// receipt, the results of all other handles must include that receipt.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// Run tests whether a store meets the requirements of [ledger.Store], with one subtest per
// requirement. If the store is a [ledger.Reader] or a [ledger.Replacer], or has only the method
// Walk, Run also tests the requirements of these methods. open creates an empty store and returns a
// function that opens a new handle to it. Handles must share no memory, as if each of them were in
// a different process. If a handle has a method Close, closing it must not affect the store. open
// may use t.Cleanup to release resources.
func Run(t *testing.T, open func(t *testing.T) (handle func() ledger.Store)) {
	streamW := stream("w")
	for _, promise := range []struct {
		name string
		test func(t *testing.T, handle func() ledger.Store)
	}{
		{"empty", empty},
		{"append", appends},
		{"head moved", headMoved},
		{"duplicate id", duplicateID},
		{"wrong place", wrongPlace},
		{"streams", streams},
		{"characters", characters},
		{"large", large},
		{"run", run},
		{"run of 1", runOf(1)},
		{"run of 2", runOf(2)},
		{"run of 127", runOf(127)},
		{"run of 128", runOf(128)},
		{"several runs", severalRuns},
		{"find", find},
		{"find sees", findSees},
		{"rival", rival},
		{"rows", rows},
		{"one winner", oneWinner},
		{"two handles", twoHandles},
		{"issuers", issuers},
		{"lost answers", lostAnswers},
		{"canceled", canceled},
		{"canceled meanwhile", canceledMeanwhile},
		{"order", order},
		{"prefix", prefix},
		{"append while walking", appendWhileWalking},
		{"heads", heads},
		{"replace", replace},
		{"filter task", filter(ledger.Query{Task: "task_1"}, 0, 2, 4)},
		{"filter session", filter(ledger.Query{Session: "session_1"}, 0, 1, 4)},
		{"filter stream", filter(ledger.Query{Stream: &streamW}, 0, 2, 4)},
		{"filter from", filter(ledger.Query{From: minute(10)}, 1, 3, 4)},
		{"filter before", filter(ledger.Query{Before: minute(10)}, 0, 2)},
		{"filter until", filter(ledger.Query{Until: minute(10)}, 0)},
		{"filter sees", filter(ledger.Query{Sees: func(s chain.Stream) bool { return s == streamW }}, 0, 2, 4)},
		{"filter limit", filter(ledger.Query{Limit: 2}, 0, 1)},
		{"filter all", filter(ledger.Query{Task: "task_1", Session: "session_1", Stream: &streamW, From: minute(1), Before: minute(16), Until: minute(30), Limit: 3}, 4)},
		{"filter none", filter(ledger.Query{Task: "task_", Session: "session_"})},
		{"reopened", reopened},
	} {
		t.Run(promise.name, func(t *testing.T) { promise.test(t, open(t)) })
	}
}

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

// sealRun returns receipts that follow each other, starting after the given head.
func sealRun(t *testing.T, head chain.Head, workspace string, ids ...string) (run []*receipt.Sealed) {
	t.Helper()
	for _, id := range ids {
		r := seal(t, Draft(id, workspace), head)
		run, head = append(run, r), r.Head()
	}
	return run
}

// numbered returns n IDs that begin with a prefix.
func numbered(prefix string, n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("%s_%d", prefix, i))
	}
	return ids
}

func stream(workspace string) chain.Stream {
	return chain.Stream{Issuer: "harness_storetest", Workspace: workspace}
}

// after returns a run of a stream that follows a head.
func after(s chain.Stream, previous chain.Head, run ...*receipt.Sealed) ledger.Run {
	return ledger.Run{Stream: s, Previous: previous, Receipts: run}
}

// mustAppend stores a run after a head and returns the new head.
func mustAppend(t *testing.T, store ledger.Store, previous chain.Head, run ...*receipt.Sealed) chain.Head {
	t.Helper()
	last := run[len(run)-1]
	if err := store.Append(t.Context(), after(last.Stream(), previous, run...)); err != nil {
		t.Fatalf("a run of %d: %v", len(run), err)
	}
	return last.Head()
}

// wantHead verifies that a stream has the given head. If the store counts receipts, the count must
// be correct, too.
func wantHead(t *testing.T, store ledger.Store, s chain.Stream, want *receipt.Sealed, count uint64) {
	t.Helper()
	head, err := store.Head(context.Background(), s)
	switch {
	case err != nil:
		t.Fatal(err)
	case want == nil && !head.IsZero():
		t.Errorf("the head of %+q is %v, expected none", fmt.Sprint(s), head)
	case want != nil && (head.Hash != want.Hash() || head.Count != count && head.Count != 0):
		t.Errorf("the head of %+q is %v, expected %v with the count %d", fmt.Sprint(s), head, want.Hash(), count)
	}
}

func wantStored(t *testing.T, store ledger.Store, want *receipt.Sealed) {
	t.Helper()
	got, err := ledger.Get(context.Background(), store, want.ID())
	if err != nil {
		t.Errorf("%.200q: %v", want.ID(), err)
	} else if string(got.JSON()) != string(want.JSON()) {
		t.Errorf("%.200q: the store returns\n%.2000s\nexpected\n%.2000s", want.ID(), got.JSON(), want.JSON())
	}
}

func wantAbsent(t *testing.T, store ledger.Store, id string) {
	t.Helper()
	if got, err := ledger.Get(context.Background(), store, id); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("%.200q: the store returns %v, %v, expected ErrNotFound", id, got, err)
	}
}
