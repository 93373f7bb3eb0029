// Package sourcetest tests implementations of [serve.Source].
package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
)

// Run tests whether a source meets the requirements of [serve.Source], with one subtest per
// requirement. open returns a source that contains the given receipts. The receipts are in the
// order in which they are stored, which is the chain order within each stream. open may use
// t.Cleanup to release resources.
func Run(t *testing.T, open func(t *testing.T, receipts []*receipt.Sealed) serve.Source) {
	for _, promise := range []struct {
		name string
		test func(*testing.T, *shelf)
	}{
		{"get", get},
		{"absent", absent},
		{"link", link},
		{"reach", reach},
		{"tasks", tasks},
		{"pages", pages},
		{"cursor", cursor},
		{"canceled", canceled},
		{"concurrent", concurrent},
	} {
		t.Run(promise.name, func(t *testing.T) {
			receipts := created(t)
			promise.test(t, &shelf{open(t, receipts), receipts})
		})
	}

	t.Run("empty", func(t *testing.T) { absent(t, &shelf{open(t, nil), nil}) })
	t.Run("large", func(t *testing.T) {
		receipts := largeOnes(t)
		pages(t, &shelf{open(t, receipts), receipts})
	})
}

// A shelf is a source, together with the receipts that it contains.
type shelf struct {
	serve.Source
	receipts []*receipt.Sealed
}

// list reads all pages of the receipts of a task, with at most limit receipts per page, and returns
// the receipt IDs.
func (s *shelf) list(t *testing.T, task string, reach protocol.Reach, limit int) (ids []string) {
	t.Helper()
	q := serve.TaskQuery{Task: task, Reach: reach, Limit: limit}
	for more := true; more; {
		var page []serve.Stored
		var err error
		page, more, err = s.ByTask(t.Context(), q)
		switch {
		case err != nil:
			t.Fatalf("the page of task %q after %d receipts: %v", task, len(ids), err)
		case len(page) > limit:
			t.Fatalf("a page of %d receipts, expected at most %d", len(page), limit)
		case more && len(page) == 0:
			t.Fatal("an empty page, and more follow")
		case len(page) == 0 && len(ids) > 0:
			t.Fatalf("an empty page of task %q after %d receipts, after which more were to follow", task, len(ids))
		}

		for _, stored := range page {
			r, err := receipt.ParseSealed(stored.JSON)
			if err != nil {
				t.Fatal(err)
			}
			if string(stored.JSON) != string(r.JSON()) { // the receipts are stored in canonical form
				t.Errorf("%.200q is listed as\n%.2000q\nexpected\n%.2000q", r.ID(), stored.JSON, r.JSON())
			}
			ids, q.After = append(ids, r.ID()), r.Hash()
		}
		if len(ids) > len(s.receipts) {
			t.Fatalf("the pages of task %q have at least %d of %d receipts", task, len(ids), len(s.receipts))
		}
	}
	return ids
}

// want returns the IDs of a task's receipts that are within reach, in the order in which they were
// stored.
func (s *shelf) want(task string, reach protocol.Reach) (ids []string) {
	for _, r := range s.receipts {
		if reach.Sees(r.Stream()) && slices.Contains(serve.Tasks(r.Document().Root()), task) {
			ids = append(ids, r.ID())
		}
	}
	return ids
}

// created returns receipts from several streams, tenants, and tasks.
func created(t *testing.T) (list []*receipt.Sealed) {
	t.Helper()
	heads := map[chain.Stream]chain.Head{}
	add := func(id, tenant, object, subject, task string) {
		r := seal(t, heads, draft(id, tenant, object, subject, task))
		list = append(list, r)
	}

	for i := range 24 {
		tenant := []string{"", "a", "b"}[i%3]
		object := []string{"task", "task", "task", "artifact"}[i%4]
		subject, task := []string{"t", "other", "t", "x"}[i/2%4], []string{"t", "t", "other", "y"}[i/2%4]
		add(fmt.Sprintf("receipt_%02d", i), tenant, object, subject, task)
	}

	// These names might be truncated, folded, or interpreted by an index.
	for _, name := range awkward {
		add(name, "", "task", name, name)
	}
	return list
}

var awkward = []string{"\x00", "a\x00", "a\x00b", "a", "A", "a ", "%", "_", "'", "*", "..", "../receipt_01", "/", "\u00e9", "e\u0301", "\U0010ffff", strings.Repeat("long", 500), strings.Repeat("long", 500) + "er"}

// largeOnes returns several receipts that do not fit on one page together.
func largeOnes(t *testing.T) (list []*receipt.Sealed) {
	t.Helper()
	heads := map[chain.Stream]chain.Head{}
	for i := range 5 {
		d := draft(fmt.Sprintf("receipt_%d", i), "", "task", "t", "t")
		d.Metadata = receipt.Object{"filling": strings.Repeat("x", 3<<20)}
		list = append(list, seal(t, heads, d))
	}
	return list
}

func draft(id, tenant, object, subject, task string) *receipt.Draft {
	at := receipt.At(time.Date(2026, 4, 25, 19, 0, 0, 0, time.UTC))
	return &receipt.Draft{
		ReceiptID: id, Subject: receipt.ResourceRef{Object: object, ID: subject},
		Issuer: receipt.Issuer{ID: "harness_sourcetest", Kind: "harness"}, IssuedAt: at,
		Identifiers: receipt.Identifiers{WorkspaceRef: "w", TenantID: tenant, TaskID: task, SessionID: "session_1"},
		Lifecycle:   receipt.Lifecycle{StartedAt: at, CompletedAt: at, FinalState: receipt.StateSucceeded},
		Trust:       receipt.TrustTiers{StartTier: "act_auto", EndTier: "act_auto"},
		ReplayInput: receipt.ReplayInput{Determinism: "unavailable"},
		ModelRoute:  receipt.ModelRoute{ChosenModel: receipt.Model{Provider: "none", Model: "none"}, RoutePolicyReason: "none"},
		Cost:        receipt.Cost{Currency: "USD"},
	}
}

// seal seals a draft with a link to the head of its stream.
func seal(t *testing.T, heads map[chain.Stream]chain.Head, d *receipt.Draft) *receipt.Sealed {
	t.Helper()
	s := chain.Stream{Issuer: d.Issuer.ID, Tenant: d.Identifiers.TenantID, HasTenant: d.Identifiers.TenantID != "", Workspace: d.Identifiers.WorkspaceRef}
	r, err := receipt.Seal(d, heads[s])
	if err != nil {
		t.Fatal(err)
	}
	heads[s] = r.Head()
	return r
}

// get verifies that each receipt can be found by its ID and is returned byte for byte, and that it
// does not change when other receipts are read.
func get(t *testing.T, s *shelf) {
	all := make([]serve.Stored, len(s.receipts))
	for i, r := range s.receipts {
		var err error
		if all[i], err = s.Get(t.Context(), r.ID(), protocol.Everything()); err != nil {
			t.Errorf("%.200q: %v", r.ID(), err)
		}
	}
	for i, r := range s.receipts {
		if got := all[i]; string(got.JSON) != string(r.JSON()) {
			t.Errorf("%.200q: the source returns\n%.2000q\nexpected\n%.2000q", r.ID(), got.JSON, r.JSON())
		}
	}
}

// absent verifies that nothing is found for an ID or a task that no receipt has.
func absent(t *testing.T, s *shelf) {
	for _, id := range []string{"", "receipt_", "receipt_0", "receipt_01 ", "RECEIPT_01", "receipt_01\x00", "receipt__1", "receipt_%", "./receipt_01", "a\x00c", strings.Repeat("long", 499)} {
		if got, err := s.Get(t.Context(), id, protocol.Everything()); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("%.200q: the source returns %.200q, %v, expected ErrNotFound", id, got.JSON, err)
		}
		if got := s.list(t, id, protocol.Everything(), 50); len(got) != 0 {
			t.Errorf("the task %.200q has the receipts %q, expected none", id, got)
		}
	}
}

// link verifies that the link of a receipt in an intact chain is not reported as failed.
func link(t *testing.T, s *shelf) {
	for _, r := range s.receipts {
		got, err := s.Get(t.Context(), r.ID(), protocol.Everything())
		if err != nil {
			t.Fatal(err)
		}
		if got.Link != nil && got.Link.Status == receipt.StatusFailed {
			t.Errorf("the link of %.200q is refuted: %+v", r.ID(), *got.Link)
		}
	}
}

// reach verifies that receipts outside the reach are treated as absent.
func reach(t *testing.T, s *shelf) {
	for name, reach := range map[string]protocol.Reach{
		"nothing":   {},
		"tenant a":  protocol.Everything().OfTenants("a"),
		"tenants":   protocol.Everything().OfTenants("a", "b"),
		"workspace": protocol.Everything().OfTenants("b").OfWorkspaces("w"),
		"elsewhere": protocol.Everything().OfWorkspaces("v"),
	} {
		for _, r := range s.receipts {
			got, err := s.Get(t.Context(), r.ID(), reach)
			switch seen := reach.Sees(r.Stream()); {
			case seen && (err != nil || string(got.JSON) != string(r.JSON())):
				t.Errorf("%s: %.200q, which is within reach: %v", name, r.ID(), err)
			case !seen && !errors.Is(err, ledger.ErrNotFound):
				t.Errorf("%s: %.200q, which is out of reach: %v, expected ErrNotFound", name, r.ID(), err)
			}
		}

		for _, limit := range []int{1, 2, 50} {
			if got, want := s.list(t, "t", reach, limit), s.want("t", reach); !slices.Equal(got, want) {
				t.Errorf("%s: the task has %q in pages of %d, expected %q", name, got, limit, want)
			}
		}
	}
}

// tasks verifies that a task has exactly the receipts whose subject is the task or whose
// identifiers contain it. Each must be listed once, in the order in which they were stored.
func tasks(t *testing.T, s *shelf) {
	for _, task := range append([]string{"t", "other", "x", "y", "unknown", ""}, awkward...) {
		if got, want := s.list(t, task, protocol.Everything(), 50), s.want(task, protocol.Everything()); !slices.Equal(got, want) {
			t.Errorf("the task %.200q has the receipts %.2000q, expected %.2000q", task, got, want)
		}
	}
}

// pages verifies that pages of any size result in the same list.
func pages(t *testing.T, s *shelf) {
	want := s.want("t", protocol.Everything())
	for _, limit := range []int{1, 2, 3, len(want) - 1, len(want), len(want) + 1, 1000} {
		if got := s.list(t, "t", protocol.Everything(), limit); !slices.Equal(got, want) {
			t.Errorf("pages of %d form the list %q, expected %q", limit, got, want)
		}
	}
}

// cursor verifies that a page is refused if it would follow a receipt that is not in the list or is
// outside the reach.
func cursor(t *testing.T, s *shelf) {
	within := protocol.Everything().OfTenants("a")
	for name, q := range map[string]serve.TaskQuery{
		"an unknown receipt":       {Task: "t", Reach: protocol.Everything(), After: canon.Digest{1}, Limit: 10},
		"a receipt out of reach":   {Task: "t", Reach: within, After: s.receipts[0].Hash(), Limit: 10},
		"an unknown one in reach":  {Task: "t", Reach: within, After: canon.Digest{1}, Limit: 10},
		"a receipt, without reach": {Task: "t", After: s.receipts[0].Hash(), Limit: 10},
	} {
		if page, more, err := s.ByTask(t.Context(), q); !errors.Is(err, ledger.ErrCursor) {
			t.Errorf("after %s: %d receipts, %v, %v, expected ErrCursor", name, len(page), more, err)
		}
	}
}

// canceled verifies that the source does not serve a request whose context is canceled.
func canceled(t *testing.T, s *shelf) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Get(ctx, s.receipts[0].ID(), protocol.Everything()); !errors.Is(err, context.Canceled) {
		t.Errorf("Get returns %v, expected the error of the context", err)
	}
	if _, _, err := s.ByTask(ctx, serve.TaskQuery{Task: "t", Reach: protocol.Everything(), Limit: 10}); !errors.Is(err, context.Canceled) {
		t.Errorf("ByTask returns %v, expected the error of the context", err)
	}
}

// concurrent verifies that each of several concurrent requests gets its own response.
func concurrent(t *testing.T, s *shelf) {
	q := serve.TaskQuery{Task: "t", Reach: protocol.Everything(), Limit: 5}
	first, _, err := s.ByTask(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}

	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range s.receipts {
				r := s.receipts[(i+g*3)%len(s.receipts)]
				if got, err := s.Get(context.Background(), r.ID(), protocol.Everything()); err != nil || string(got.JSON) != string(r.JSON()) {
					t.Errorf("%.200q: %v", r.ID(), err)
				}
				page, _, err := s.ByTask(context.Background(), q)
				if err != nil || !slices.EqualFunc(page, first, func(a, b serve.Stored) bool { return string(a.JSON) == string(b.JSON) }) {
					t.Errorf("a page of %d receipts, %v, expected the same %d as before", len(page), err, len(first))
				}
			}
		})
	}
	group.Wait()
}
