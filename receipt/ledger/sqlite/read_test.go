package sqlite_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

// stocked returns a ledger with 600 receipts from 3 workspaces, 4 sessions, and 30 tasks. The time
// of each receipt is one hour earlier than the time of the previously issued receipt.
func stocked(t *testing.T) *sqlite.Ledger {
	t.Helper()
	l := create(t)
	for w := range 3 {
		s := chain.Stream{Issuer: "harness_example_cloud", Workspace: fmt.Sprint("w", w)}
		var run []*receipt.Sealed
		head := chain.Head{}
		for i := range 200 {
			n := 200*w + i
			d := draft(fmt.Sprintf("receipt_%03d", n), s.Workspace)
			d.Identifiers.TaskID, d.Identifiers.SessionID = fmt.Sprint("task_", n%30), fmt.Sprint("session_", n%4)
			d.IssuedAt = receipt.At(time.Date(2026, 4, 25, 0, 0, 0, 0, time.UTC).Add(-time.Duration(n) * time.Hour))
			r, err := receipt.Seal(d, head)
			if err != nil {
				t.Fatal(err)
			}
			run, head = append(run, r), r.Head()
		}
		if err := l.Append(context.Background(), ledger.Run{Stream: s, Previous: chain.Head{}, Receipts: run}); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func ids(entries []ledger.Row) (list []string) {
	for _, e := range entries {
		list = append(list, e.ID)
	}
	return list
}

func every(t *testing.T, entries iter.Seq2[ledger.Row, error]) (list []ledger.Row) {
	t.Helper()
	for e, err := range entries {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// TestList verifies that pages of any size add up to the complete list, in order, and that a query
// selects the same receipts as a filter that examines each receipt.
func TestList(t *testing.T) {
	if testing.Short() {
		t.Skip("it seals some hundred receipts")
	}
	ctx, l := context.Background(), stocked(t)
	at := func(n int) time.Time {
		return time.Date(2026, 4, 25, 0, 0, 0, 0, time.UTC).Add(-time.Duration(n) * time.Hour)
	}
	stream := chain.Stream{Issuer: "harness_example_cloud", Workspace: "w1"}
	for name, test := range map[string]struct {
		query ledger.Query
		want  func(n int) bool
	}{
		"all":       {ledger.Query{}, func(int) bool { return true }},
		"a task":    {ledger.Query{Task: "task_7"}, func(n int) bool { return n%30 == 7 }},
		"a session": {ledger.Query{Session: "session_3"}, func(n int) bool { return n%4 == 3 }},
		"a stream":  {ledger.Query{Stream: &stream}, func(n int) bool { return n/200 == 1 }},
		"a time":    {ledger.Query{From: at(99), Before: at(9)}, func(n int) bool { return n > 9 && n <= 99 }},
		"since":     {ledger.Query{From: at(50), Task: "task_1"}, func(n int) bool { return n <= 50 && n%30 == 1 }},
		"no time":   {ledger.Query{From: at(-1)}, func(int) bool { return false }},
		"none":      {ledger.Query{Task: "task_7'; DROP TABLE receipts"}, func(int) bool { return false }},
	} {
		var want []string
		for n := range 600 {
			if test.want(n) {
				want = append(want, fmt.Sprintf("receipt_%03d", n))
			}
		}
		if got := ids(every(t, l.Walk(ctx, test.query, 0))); !slices.Equal(got, want) {
			t.Errorf("%s: Scan returns %v, want %v", name, got, want)
		}
		for _, limit := range []int{1, 7, 200, 600, 601} {
			var got []string
			cursor := ""
			for {
				page, next, err := ledger.List(ctx, l, test.query, cursor, limit)
				if err != nil || len(page) > limit || next != "" && len(page) != limit {
					t.Fatalf("%s: a page of %d: %d entries, %v", name, limit, len(page), err)
				}
				got = append(got, ids(page)...)
				if cursor = next; next == "" {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s by %d: %v, want %v", name, limit, got, want)
			}
		}
	}
	for _, cursor := range []string{"x", "AAAA", "AQ", strings.Repeat("A", 12), "AQAAAAAAAAA=", "AQAAAAAAAAAA\n", "AQAAAAAAAAAAAAAA", "\x00"} {
		if _, _, err := ledger.List(ctx, l, ledger.Query{}, cursor, 5); !errors.Is(err, ledger.ErrCursor) {
			t.Errorf("cursor %q: %v", cursor, err)
		}
	}
	if _, _, err := ledger.List(ctx, l, ledger.Query{}, "", 0); err == nil {
		t.Error("a page of nothing")
	}
}

// TestTree verifies that the tree consists of the receipts' hashes, and that incorrect hashes are
// reported.
func TestTree(t *testing.T) {
	ctx, l := context.Background(), create(t)
	issuer := &ledger.Issuer{Store: l, Unsigned: true, KeepSecrets: true}
	want := new(merkle.Tree)
	for i := range 5 {
		r, err := issuer.Issue(ctx, draft(fmt.Sprint("receipt_", i), "w"))
		if err != nil {
			t.Fatal(err)
		}
		want.Append(receipt.CheckpointLeaf(r.Hash()))
	}
	tree, err := ledger.Tree(ctx, l, ledger.Query{})
	if err != nil || tree.Size() != 5 || tree.Root() != want.Root() {
		t.Errorf("%v, %v", tree, err)
	}
	for _, edit := range []string{
		"UPDATE receipts SET json = CAST(replace(CAST(json AS TEXT), 'SUCCEEDED', 'CANCELED') AS BLOB) WHERE receipt_id = 'a_2'",
		"UPDATE receipts SET json = x'7b' WHERE receipt_id = 'a_2'",
		"UPDATE receipts SET json = CAST('{}' AS BLOB) WHERE receipt_id = 'a_2'",
	} {
		path := filled(t, 4)
		execute(t, path, edit)
		damaged, err := sqlite.OpenReadOnly(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		if tree, err := ledger.Tree(ctx, damaged, ledger.Query{}); err == nil || tree != nil || !strings.Contains(err.Error(), `"a_2"`) {
			t.Errorf("%s: %v, %v", edit, tree, err)
		}
		damaged.Close()
	}
}

// TestImport verifies that a ledger can be imported into another ledger twice, and that a receipt
// is rejected if it was altered or does not follow its predecessor.
func TestImport(t *testing.T) {
	ctx, from := context.Background(), create(t)
	issuer := &ledger.Issuer{Store: from, Signer: signer(t), KeepSecrets: true}
	for i := range 300 {
		if _, err := issuer.Issue(ctx, draft(fmt.Sprintf("receipt_%03d", i), fmt.Sprint("w", i%2))); err != nil {
			t.Fatal(err)
		}
	}
	all := every(t, from.Walk(ctx, ledger.Query{}, 0))
	part := func(entries []ledger.Row) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for _, e := range entries {
				if !yield(e.JSON, nil) {
					return
				}
			}
		}
	}
	v, to := verifier(t, receipt.Policy{}), create(t)
	for _, step := range []struct {
		entries []ledger.Row
		want    ledger.Imported
	}{{all[:270], ledger.Imported{Stored: 270}}, {all, ledger.Imported{Stored: 30, Copies: 270}}, {all, ledger.Imported{Copies: 300}}} {
		if got, err := ledger.Import(ctx, to, v, part(step.entries)); err != nil || got != step.want {
			t.Errorf("%+v, %v, want %+v", got, err, step.want)
		}
	}
	if got := every(t, to.Walk(ctx, ledger.Query{}, 0)); !slices.Equal(ids(got), ids(all)) {
		t.Error("the order differs")
	}
	altered := slices.Clone(all)
	altered[280].JSON = []byte(strings.Replace(string(all[280].JSON), "SUCCEEDED", "CANCELED", 1))
	unsigned := slices.Clone(all)
	unsigned[3].JSON = []byte(`{"x":1}`)
	var refuted *receipt.RefutedError
	var failed *ledger.ImportError
	for name, test := range map[string]struct {
		entries []ledger.Row
		stored  int
		index   int
		fits    func(error) bool
	}{
		"altered":                    {altered, 280, 281, func(err error) bool { return errors.As(err, &refuted) }},
		"no receipt":                 {unsigned, 3, 4, func(err error) bool { return errors.As(err, &refuted) }},
		"a gap":                      {slices.Concat(all[:10], all[12:]), 10, 11, func(err error) bool { return errors.Is(err, ledger.ErrGap) }},
		"a gap, then an altered one": {slices.Concat(altered[270:275], altered[277:]), 0, 1, func(err error) bool { return errors.Is(err, ledger.ErrGap) }},
		"an altered one after a gap": {slices.Concat(altered[:270], altered[272:]), 270, 271, func(err error) bool { return errors.Is(err, ledger.ErrGap) }},
		"no beginning":               {all[2:], 0, 1, func(err error) bool { return errors.Is(err, ledger.ErrGap) }},
	} {
		l := create(t)
		got, err := ledger.Import(ctx, l, v, part(test.entries))
		if !errors.As(err, &failed) || failed.Index != test.index || !test.fits(err) || got.Stored != test.stored {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if n := len(every(t, l.Walk(ctx, ledger.Query{}, 0))); n != test.stored {
			t.Errorf("%s: %d receipts are in the ledger", name, n)
		}
	}
	fork := create(t)
	if _, err := (&ledger.Issuer{Store: fork, Unsigned: true, KeepSecrets: true}).Issue(ctx, draft("receipt_000", "other")); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Import(ctx, fork, v, part(all)); !errors.Is(err, ledger.ErrDuplicateID) {
		t.Errorf("an ID that is already in use: %v", err)
	}
	if _, err := ledger.Import(ctx, create(t), verifier(t, receipt.Policy{Issuer: "other"}), part(all)); !errors.As(err, &failed) {
		t.Errorf("of another issuer: %v", err)
	}
}

// TestOpen verifies that an absent file, a file that is not a ledger, and a ledger of a newer
// version are rejected and not changed.
func TestOpen(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	path := filepath.Join(dir, "ledger.db")
	if _, err := sqlite.Open(ctx, path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("it was made")
	}
	l, err := sqlite.Create(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if _, err := sqlite.Create(ctx, path); !errors.Is(err, os.ErrExist) {
		t.Errorf("again: %v", err)
	}
	if _, err := sqlite.Open(ctx, dir); err == nil {
		t.Error("a folder was opened")
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte("hello, this is a text and no ledger at all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string]string{
		"another program's": "PRAGMA application_id = 5",
		"a newer one":       "PRAGMA user_version = 1000",
	} {
		other := filepath.Join(dir, strings.ReplaceAll(name, " ", "_"))
		l, err := sqlite.Create(ctx, other)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		execute(t, other, edit)
		for _, open := range []func(context.Context, string) (*sqlite.Ledger, error){sqlite.Open, sqlite.OpenReadOnly} {
			var version *sqlite.VersionError
			if _, err := open(ctx, other); !errors.As(err, &version) {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := open(ctx, text); err == nil || !strings.Contains(err.Error(), "it is not a ledger, or its beginning is damaged") {
				t.Error("a text was opened")
			}
		}
	}
	ro, err := sqlite.OpenReadOnly(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()

	// Nothing can be stored, and the error states this, so callers do not retry.
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	issuer := &ledger.Issuer{Store: ro, Unsigned: true, KeepSecrets: true}
	for name, issue := range map[string]func(context.Context, json.Marshaler) (*receipt.Sealed, error){"issue": issuer.Issue, "until it is known": issuer.IssueUntilKnown} {
		_, err := issue(ctx, draft("receipt_1", "w"))
		failed, _ := errors.AsType[*ledger.IssueError](err)
		if failed == nil || failed.Temporary || failed.Stored != ledger.StoredNo || !errors.Is(err, ledger.ErrNotStored) || !strings.Contains(err.Error(), "open read-only") {
			t.Errorf("%s: issued into a read-only ledger: %v", name, err)
		}
	}
}
