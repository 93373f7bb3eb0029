package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/postgres"
	"github.com/receiptkit/receiptkit/postgres/internal/pgserver"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
)

// A full ledger has all methods that packages ledger and served require.
type full interface {
	ledger.Replacer
	ledger.Pruner
	ledger.Auditor
}

var (
	_ full = (*postgres.Ledger)(nil)
	_ full = (*sqlite.Ledger)(nil)
)

// history returns receipts with various streams, tasks, sessions, and times.
func history(t *testing.T) (list []*receipt.Sealed) {
	t.Helper()
	heads := map[chain.Stream]chain.Head{}
	for i := range 90 {
		d := storetest.Draft(fmt.Sprintf("receipt_%02d", i), fmt.Sprint("w", i%2))
		d.Identifiers.TenantID = []string{"", "a", "b"}[i%3]
		d.Identifiers.TaskID = fmt.Sprint("task_", i%5)
		d.Identifiers.SessionID = fmt.Sprint("session_", i%4)
		d.Subject.ID = fmt.Sprint("task_", i%7)
		d.IssuedAt = receipt.At(time.Date(2026, 4, 25, 19, (i*7)%60, 0, 0, time.UTC))
		s := chain.Stream{Issuer: d.Issuer.ID, Tenant: d.Identifiers.TenantID, HasTenant: d.Identifiers.TenantID != "", Workspace: d.Identifiers.WorkspaceRef}
		r, err := receipt.Seal(d, heads[s])
		if err != nil {
			t.Fatal(err)
		}
		heads[s] = r.Head()
		list = append(list, r)
	}
	return list
}

func jsonOf(list []*receipt.Sealed) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, r := range list {
			if !yield(r.JSON(), nil) {
				return
			}
		}
	}
}

// TestAgree verifies that every function in package ledger gives the same result with PostgreSQL as
// with SQLite. The functions cover imports, lists, trees, signatures, and prunings.
func TestAgree(t *testing.T) {
	ctx := t.Context()
	inFile, err := sqlite.Create(ctx, filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer inFile.Close()
	p := pair{inFile, open(t, create(t, pgserver.Start(t)))}
	all := history(t)

	// Import a gap, all receipts, all receipts again, and a fork.
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	fork := storetest.Draft("receipt_fork", "w0")
	forked, err := receipt.Seal(fork, chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]*receipt.Sealed{all[10:20], all[:50], all, {forked}} {
		p.same(t, fmt.Sprintf("import %d receipts", len(list)), func(l full) any {
			count, err := ledger.Import(ctx, l, v, jsonOf(list))
			return []any{count, fmt.Sprint(err)}
		})
	}
	p.compare(t, all)

	// Signatures change the bytes of receipts but not the hashes.
	signer := keys.NewSigner(signerOf(t, "keys/key_2026_04.private.json"), clock)
	for _, id := range []string{"receipt_03", "receipt_40", "receipt_03", "receipt_none"} {
		p.same(t, "sign "+id, func(l full) any {
			signed, err := ledger.Sign(ctx, l, id, signer)
			if err != nil {
				return err.Error()
			}
			return string(signed.JSON())
		})
	}
	p.compare(t, all)

	// A receipt signed after it was compared with the archive must not be pruned.
	witness := keys.NewSigner(signerOf(t, "keys/key_second.private.json"), clock)
	p.same(t, "prune a receipt that was signed meanwhile", func(l full) any {
		cut := prunable(t, l, 30)
		if _, err := ledger.Sign(ctx, l, "receipt_05", witness); err != nil {
			t.Fatal(err)
		}
		n, err := ledger.Prune(ctx, l, cut, "old.jsonl", canon.Digest{1})
		if !errors.Is(err, ledger.ErrPruneChanged) {
			t.Errorf("Prune returns %v, expected ErrPruneChanged", err)
		}
		return n
	})

	// The first receipts are pruned, and then some more.
	for _, size := range []int{30, 31, 60} {
		p.same(t, fmt.Sprintf("prune %d receipts", size), func(l full) any { return pruned(t, l, size) })
		p.compare(t, all)
	}

	p.same(t, "import pruned receipts again", func(l full) any {
		count, err := ledger.Import(ctx, l, v, jsonOf(all))
		return []any{count, fmt.Sprint(err)}
	})
}

// A pair consists of two ledgers that must give the same results.
type pair struct{ file, server full }

func (p pair) same(t *testing.T, what string, result func(full) any) {
	t.Helper()
	if file, server := result(p.file), result(p.server); !reflect.DeepEqual(file, server) {
		t.Errorf("%s: SQLite gives\n%.2000v\nPostgreSQL gives\n%.2000v", what, file, server)
	}
}

// compare reads the receipts in every way that a ledger offers, and compares the results.
func (p pair) compare(t *testing.T, all []*receipt.Sealed) {
	t.Helper()
	ctx := t.Context()
	p.same(t, "streams", func(l full) any {
		list, err := ledger.Heads(ctx, l)
		return []any{list, fmt.Sprint(err)}
	})
	p.same(t, "prunings", func(l full) any {
		list, err := ledger.Prunings(ctx, l)
		return []any{fmt.Sprint(list), fmt.Sprint(err)}
	})

	p.same(t, "check", func(l full) any { return checked(t, l) })

	for _, r := range all {
		id, hash := r.ID(), r.Hash()
		p.same(t, "read "+id, func(l full) any {
			got, err := ledger.Get(ctx, l, id)
			entry, byHash := ledger.Lookup(ctx, l, ledger.Key{Hash: hash})
			_, unseen := l.Find(ctx, ledger.Key{ID: id, Sees: func(s chain.Stream) bool { return s != r.Stream() }})
			row, link, linked := ledger.Linked(ctx, l, ledger.Key{ID: id, Sees: func(s chain.Stream) bool { return s == r.Stream() }})
			text := ""
			if err == nil {
				text = string(got.JSON())
			}
			gone, _ := errors.AsType[*ledger.PrunedError](err)
			return []any{text, fmt.Sprint(err), gone, entry, fmt.Sprint(byHash), fmt.Sprint(unseen), row, link, fmt.Sprint(linked)}
		})
	}

	for name, q := range queries() {
		p.same(t, "the query "+name, func(l full) any {
			list, err := listed(ctx, l, q, 0)
			after, afterErr := listed(ctx, l, q, 45)
			n, counted := ledger.CountPruned(ctx, l, q)
			tree, treeErr := ledger.Tree(ctx, l, q)
			root := ""
			if treeErr == nil {
				root = tree.Root().String()
			}
			return []any{list, fmt.Sprint(err), after, fmt.Sprint(afterErr), n, fmt.Sprint(counted), root, fmt.Sprint(treeErr)}
		})
	}
}

// checked checks a ledger, and returns the faults together with the rest of the result. Only a
// ledger in a file has a mark next to it.
func checked(t *testing.T, l full) any {
	t.Helper()
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var faults []ledger.Fault
	result, err := ledger.Check(t.Context(), l, v, func(f ledger.Fault) { faults = append(faults, f) }, func(int) {})
	if err != nil {
		return err.Error()
	}
	result.Marked = false
	return []any{faults, *result}
}

func listed(ctx context.Context, l full, q ledger.Query, after int64) (list []string, err error) {
	for e, err := range l.Walk(ctx, q, after) {
		if err != nil {
			return list, err
		}
		list = append(list, fmt.Sprintf("%d %d %s %v %v %s", e.Sequence, e.Position, e.ID, e.Hash, e.Stream, e.JSON))
	}
	return list, nil
}

// queries returns queries by each field, and some queries by several fields.
func queries() map[string]ledger.Query {
	at := func(minute int) time.Time { return time.Date(2026, 4, 25, 19, minute, 0, 0, time.UTC) }
	s := chain.Stream{Issuer: "harness_storetest", Tenant: "a", HasTenant: true, Workspace: "w1"}
	return map[string]ledger.Query{
		"all":          {},
		"with pruned":  {Pruned: true},
		"task":         {Task: "task_3"},
		"subject":      {Task: "task_6"},
		"no task":      {Task: "task_"},
		"session":      {Session: "session_1"},
		"stream":       {Stream: &s},
		"no stream":    {Stream: &chain.Stream{Issuer: "harness_storetest", Workspace: "w3"}},
		"from":         {From: at(30)},
		"before":       {Before: at(30)},
		"from, before": {From: at(10), Before: at(40), Pruned: true},
		"until":        {Until: at(50)},
		"until later":  {Until: at(59), Pruned: true},
		"never":        {Until: at(100)},
		"limit":        {Limit: 7},
		"limit, task":  {Task: "task_1", Limit: 3, Pruned: true},
		"sees":         {Sees: func(s chain.Stream) bool { return s.Tenant == "b" }},
		"sees none":    {Sees: func(chain.Stream) bool { return false }, Pruned: true},
		"several":      {Task: "task_2", Session: "session_2", From: at(5), Pruned: true, Sees: func(s chain.Stream) bool { return s.HasTenant }},
	}
}

// pruned prunes the first receipts in a ledger and returns the result.
func pruned(t *testing.T, l full, size int) any {
	t.Helper()
	ctx := t.Context()
	cut := prunable(t, l, size)
	n, err := ledger.Prune(ctx, l, cut, "old.jsonl", canon.Digest{1})
	again, twice := ledger.Prune(ctx, l, cut, "old.jsonl", canon.Digest{1})
	return []any{n, fmt.Sprint(err), again, errors.Is(twice, ledger.ErrPruneChanged)}
}

// prunable compares the first receipts in a ledger with a checkpoint and an archive.
func prunable(t *testing.T, l full, size int) *ledger.Cut {
	t.Helper()
	ctx := t.Context()
	var archive [][]byte
	for e, err := range l.Walk(ctx, ledger.Query{Pruned: true}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.JSON != nil && e.Sequence <= int64(size) {
			archive = append(archive, e.JSON)
		}
	}
	tree, err := ledger.Tree(ctx, l, ledger.Query{Limit: size})
	if err != nil {
		t.Fatal(err)
	}

	log := signerOf(t, "keys/log_1.private.json")
	note, err := keys.NewSigner(log, nil).SignCheckpoint(ctx, &tlog.Checkpoint{Origin: "log.example.net/receipts", Size: tree.Size(), Root: tree.Root()})
	if err != nil {
		t.Fatal(err)
	}
	trust, err := fixtures.Read("keys/trust.json")
	if err != nil {
		t.Fatal(err)
	}
	set, err := keys.ParseSet(trust)
	if err != nil {
		t.Fatal(err)
	}

	cut, err := ledger.Prunable(ctx, l, set, note, func(yield func([]byte, error) bool) {
		for _, json := range archive {
			if !yield(json, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return cut
}

func clock() time.Time { return time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC) }

func signerOf(t *testing.T, name string) *keys.PrivateKey {
	t.Helper()
	data, err := fixtures.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := keys.ParsePrivate(data)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}
