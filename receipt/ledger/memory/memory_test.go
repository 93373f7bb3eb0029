package memory_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/memory"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func() ledger.Store {
		l := new(memory.Ledger)
		return func() ledger.Store { return l }
	})
}

// TestIncompleteCheck verifies that the result of a check that did not read the entire ledger is
// never verified.
func TestIncompleteCheck(t *testing.T) {
	l := new(memory.Ledger)
	issuer := &ledger.Issuer{Store: l, Unsigned: true}
	for i := range 10 {
		if _, err := issuer.Issue(t.Context(), storetest.Draft(fmt.Sprint("receipt_", i), "w")); err != nil {
			t.Fatal(err)
		}
	}
	v := must(receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true}))(t)
	none := func(f ledger.Fault) { t.Error(f.Error()) }

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	checked, err := ledger.Check(ctx, l, v, none, func(receipts int) {
		if receipts == 5 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || checked.Verdict() != receipt.Undecided {
		t.Errorf("a check of %d receipts that was canceled: %v, %v, expected undecided", checked.Receipts, checked.Verdict(), err)
	}
	if checked, err := ledger.Check(t.Context(), l, v, none, nil); err != nil || checked.Receipts != 10 || checked.Verdict() != receipt.Verified {
		t.Errorf("the entire check: %+v, %v, expected verified", checked, err)
	}
	if verdict := new(ledger.Checked).Verdict(); verdict != receipt.Undecided {
		t.Errorf("the zero Checked is %v, expected undecided", verdict)
	}
}

// TestRefusedDrafts verifies that a draft that is not JSON is invalid, and that an issuer does not
// change its own fields.
func TestRefusedDrafts(t *testing.T) {
	issuer := &ledger.Issuer{Store: new(memory.Ledger), Unsigned: true}
	for text, code := range map[string]receipt.Code{"": receipt.CodeEmptyInput, "{": receipt.CodeSyntax, `{"a":1,"a":2}`: receipt.CodeDuplicateName, "[]": receipt.CodeNotObject} {
		_, err := issuer.Issue(t.Context(), bare(text))
		var failed *ledger.IssueError
		var invalid *receipt.InvalidError
		if !errors.As(err, &failed) || !errors.As(err, &invalid) || invalid.Problems[0].Code != code || failed.Stored != ledger.StoredNo || failed.Temporary {
			t.Errorf("%q: %v, expected an *InvalidError with the code %s", text, err, code)
		}
	}
	if issuer.Secrets != nil {
		t.Error("the issuer changed Secrets")
	}
}

// A bare draft is any text.
type bare string

func (b bare) MarshalJSON() ([]byte, error) { return []byte(b), nil }

// A silent store finds neither a row nor an error.
type silent struct{ memory.Ledger }

func (*silent) Find(context.Context, ledger.Key) (*ledger.Row, error) { return nil, nil }

// TestNoRow verifies that a store that returns neither a row nor an error does not cause a panic.
func TestNoRow(t *testing.T) {
	if r, err := ledger.Get(t.Context(), new(silent), "receipt_1"); err == nil || errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("Get returns %v, %v, expected an error about the store", r, err)
	}
	if r, _, err := ledger.Linked(t.Context(), new(silent), ledger.Key{ID: "receipt_1"}); err == nil {
		t.Errorf("Linked returns %v without an error", r)
	}
}

// A limited records the Limit of the last query.
type limited struct {
	*memory.Ledger
	limit int
}

func (l *limited) Walk(ctx context.Context, q ledger.Query, after int64) iter.Seq2[ledger.Row, error] {
	l.limit = q.Limit
	return l.Ledger.Walk(ctx, q, after)
}

// TestPageSizes verifies the largest page, that a page has at least one receipt, and that the Limit
// of a query does not change a page.
func TestPageSizes(t *testing.T) {
	l := &limited{Ledger: new(memory.Ledger)}
	issuer := &ledger.Issuer{Store: l, Unsigned: true}
	for i := range 3 {
		if _, err := issuer.Issue(t.Context(), storetest.Draft(fmt.Sprint("receipt_", i), "w")); err != nil {
			t.Fatal(err)
		}
	}
	for _, limit := range []int{3, math.MaxInt} {
		if page, next, err := ledger.List(t.Context(), l, ledger.Query{Limit: 1}, "", limit); len(page) != 3 || next != "" || err != nil {
			t.Errorf("a page of at most %d receipts has %d, %q, %v, expected 3", limit, len(page), next, err)
		}
		if l.limit < 1 {
			t.Errorf("a page of at most %d receipts is read with the limit %d", limit, l.limit)
		}
	}
	for _, limit := range []int{0, -1} {
		if page, next, err := ledger.List(t.Context(), l, ledger.Query{}, "", limit); len(page) > 0 || next != "" || err == nil {
			t.Errorf("a page of at most %d receipts has %d, %q, %v, expected an error", limit, len(page), next, err)
		}
	}
}

// TestAgree verifies that importing the receipts of a ledger into another ledger preserves the
// tree, the heads, and the lists.
func TestAgree(t *testing.T) {
	ctx := t.Context()
	from, into := new(memory.Ledger), must(sqlite.Create(ctx, filepath.Join(t.TempDir(), "ledger.db")))(t)
	defer into.Close()
	issuer := &ledger.Issuer{Store: from, Unsigned: true}
	at := time.Date(2026, 4, 25, 19, 0, 0, 0, time.UTC)
	for i := range 300 {
		d := storetest.Draft(fmt.Sprint("receipt_", i), fmt.Sprint("w", i%3))
		d.IssuedAt = receipt.At(at.Add(time.Duration(i%50) * time.Minute))
		d.Identifiers.SessionID = fmt.Sprint("session_", i%2)
		if _, err := issuer.Issue(ctx, d); err != nil {
			t.Fatal(err)
		}
	}

	v := must(receipt.NewVerifier(new(keys.Set), receipt.Policy{IntegrityOnly: true}))(t)
	for _, want := range []ledger.Imported{{Stored: 300}, {Copies: 300}} {
		if n, err := ledger.Import(ctx, into, v, documents(from)); n != want || err != nil {
			t.Errorf("imported %+v, %v; expected %+v", n, err, want)
		}
	}

	stream := chain.Stream{Issuer: "harness_storetest", Workspace: "w1"}
	for name, q := range map[string]ledger.Query{
		"all":      {},
		"limit":    {Limit: 7},
		"negative": {Limit: -1},
		"task":     {Task: "task_receipt_7"},
		"session":  {Session: "session_1"},
		"stream":   {Stream: &stream},
		"from":     {From: at.Add(10 * time.Minute)},
		"before":   {Before: at.Add(10 * time.Minute), Session: "session_0"},
		"until":    {Until: at.Add(20 * time.Minute)},
		"sees":     {Sees: func(s chain.Stream) bool { return s.Workspace != "w2" }},
		"nothing":  {Task: "task_none"},
	} {
		a, b := list(t, from, q), list(t, into, q)
		if !slices.Equal(a, b) || len(a) == 0 != (name == "nothing") {
			t.Errorf("%s: %d receipts in memory, %d in SQLite", name, len(a), len(b))
		}
		if x, y := must(ledger.Tree(ctx, from, q))(t), must(ledger.Tree(ctx, into, q))(t); x.Root() != y.Root() {
			t.Errorf("%s: the roots %v and %v", name, x.Root(), y.Root())
		}
	}
	if a, b := must(from.Streams(ctx))(t), must(into.Streams(ctx))(t); !slices.Equal(a, b) || len(a) != 3 {
		t.Errorf("the heads %v and %v", a, b)
	}
}

// A forger is a Reader that alters one row.
type forger struct {
	*memory.Ledger
	id    string
	alter func(*ledger.Row) *ledger.Row // nil if the row is missing
}

func (f forger) Find(ctx context.Context, k ledger.Key) (*ledger.Row, error) {
	r, err := f.Ledger.Find(ctx, k)
	if err != nil || r.ID != f.id {
		return r, err
	}
	if r = f.alter(r); r == nil {
		return nil, ledger.ErrNotFound
	}
	return r, nil
}

// TestCheck verifies that a Reader that is not an Auditor can be checked, that faults are found,
// and that the result states which checks were not made.
func TestCheck(t *testing.T) {
	ctx, l := t.Context(), new(memory.Ledger)
	issuer := &ledger.Issuer{Store: l, Unsigned: true}
	for i := range 3 {
		if _, err := issuer.Issue(ctx, storetest.Draft(fmt.Sprint("receipt_", i), "w")); err != nil {
			t.Fatal(err)
		}
	}
	v := must(receipt.NewVerifier(new(keys.Set), receipt.Policy{IntegrityOnly: true}))(t)
	none := func(f ledger.Fault) { t.Error(f) }
	c, err := ledger.Check(ctx, l, v, none, nil)
	if err != nil || c.Verdict() != receipt.Verified || c.Verified != 3 || c.Audited || c.Marked {
		t.Errorf("%+v, %v", c, err)
	}

	for code, alter := range map[string]func(*ledger.Row) *ledger.Row{
		ledger.FaultMissing: func(*ledger.Row) *ledger.Row { return nil },
		ledger.FaultRow:     func(r *ledger.Row) *ledger.Row { r.Session = "session_2"; return r },
		"hash_mismatch": func(r *ledger.Row) *ledger.Row {
			r.JSON = bytes.Replace(r.JSON, []byte("SUCCEEDED"), []byte("CANCELED"), 1)
			return r
		},
		"syntax": func(r *ledger.Row) *ledger.Row { r.JSON = []byte("{"); return r },
	} {
		var found []ledger.Fault
		c, err := ledger.Check(ctx, forger{l, "receipt_1", alter}, v, func(f ledger.Fault) { found = append(found, f) }, nil)
		if err != nil || c.Verdict() != receipt.Refuted || len(found) != 1 || found[0].Code != code || found[0].Position != 2 {
			t.Errorf("%s: found %+v, %v", code, found, err)
		}
		if _, err := ledger.Get(ctx, forger{l, "receipt_1", alter}, "receipt_1"); err == nil {
			t.Errorf("%s: Get returns the receipt", code)
		}
	}
}

// TestImportRefusals verifies that an import ends at a receipt that causes a gap or a fork.
func TestImportRefusals(t *testing.T) {
	ctx := t.Context()
	v := must(receipt.NewVerifier(new(keys.Set), receipt.Policy{IntegrityOnly: true}))(t)
	chainOf := func(prefix string) *memory.Ledger {
		l := new(memory.Ledger)
		issuer := &ledger.Issuer{Store: l, Unsigned: true}
		for i := range 3 {
			if _, err := issuer.Issue(ctx, storetest.Draft(fmt.Sprint(prefix, i), "w")); err != nil {
				t.Fatal(err)
			}
		}
		return l
	}
	a, b := chainOf("a_"), chainOf("b_")
	if n, err := ledger.Import(ctx, a, v, documents(b)); n != (ledger.Imported{}) || !is(err, ledger.ErrFork, 1) {
		t.Errorf("a fork: %+v, %v", n, err)
	}

	var later [][]byte
	for data := range documents(b) {
		later = append(later, data)
	}
	empty := new(memory.Ledger)
	if n, err := ledger.Import(ctx, empty, v, seq(later[1:])); n != (ledger.Imported{}) || !is(err, ledger.ErrGap, 1) {
		t.Errorf("a gap: %+v, %v", n, err)
	}
	if n, err := ledger.Import(ctx, empty, v, seq([][]byte{later[0], later[2]})); n != (ledger.Imported{Stored: 1}) || !is(err, ledger.ErrGap, 2) {
		t.Errorf("a gap after the first one: %+v, %v", n, err)
	}
}

func is(err, cause error, index int) bool {
	e, ok := errors.AsType[*ledger.ImportError](err)
	return ok && errors.Is(e, cause) && e.Index == index
}

func documents(r ledger.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for e, err := range r.Walk(context.Background(), ledger.Query{}, 0) {
			if !yield(e.JSON, err) {
				return
			}
		}
	}
}

func seq(list [][]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, data := range list {
			if !yield(data, nil) {
				return
			}
		}
	}
}

func list(t *testing.T, r ledger.Reader, q ledger.Query) (hashes []canon.Digest) {
	t.Helper()
	for e, err := range r.Walk(t.Context(), q, 0) {
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, e.Hash)
	}
	return hashes
}

func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// TestQueryCheck verifies that a query rejects an altered row, and a row that does not match the
// query. A damaged index may return such a row.
func TestQueryCheck(t *testing.T) {
	ctx, l := t.Context(), new(memory.Ledger)
	if _, err := (&ledger.Issuer{Store: l, Unsigned: true}).Issue(ctx, storetest.Draft("receipt_1", "w")); err != nil {
		t.Fatal(err)
	}
	for r, err := range l.Walk(ctx, ledger.Query{}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if err := new(ledger.Query).Check(&r); err != nil {
			t.Error(err)
		}

		var fault *ledger.Fault
		if err := (&ledger.Query{Session: "another"}).Check(&r); !errors.As(err, &fault) || fault.Code != ledger.FaultFile {
			t.Errorf("a row of another session: %v", err)
		}
		r.Session = "another"
		if err := (&ledger.Query{Session: "another"}).Check(&r); !errors.As(err, &fault) {
			t.Errorf("an altered row: %v", err)
		}
	}
}

// A wrapping store adds ErrNotStored to all errors from Append.
type wrapping struct{ *memory.Ledger }

func (s wrapping) Append(ctx context.Context, runs ...ledger.Run) error {
	if err := s.Ledger.Append(ctx, runs...); err != nil {
		return fmt.Errorf("%w: %w", ledger.ErrNotStored, err)
	}
	return nil
}

// TestWrappedErrors verifies that a repeated draft returns its receipt, even if the store wraps
// both ErrNotStored and ErrDuplicateID.
func TestWrappedErrors(t *testing.T) {
	issuer := &ledger.Issuer{Store: wrapping{new(memory.Ledger)}, Unsigned: true}
	first, err := issuer.Issue(t.Context(), storetest.Draft("receipt_1", "w"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := issuer.Issue(t.Context(), storetest.Draft("receipt_1", "w")); err != nil || again.Hash() != first.Hash() {
		t.Errorf("%v, expected the receipt %v", err, first.Hash())
	}
}
