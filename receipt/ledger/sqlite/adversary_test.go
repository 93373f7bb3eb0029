package sqlite_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

func undated(id string) *receipt.Draft {
	d := draft(id, "w")
	d.IssuedAt = receipt.Time{}
	return d
}

// TestIssuedInOrder verifies that drafts that are issued at the same time get dates in chain order.
func TestIssuedInOrder(t *testing.T) {
	var ticks atomic.Int64
	l := create(t)
	issuer := &ledger.Issuer{Store: l, KeepSecrets: true, Now: func() time.Time {
		n := ticks.Add(1)
		time.Sleep(time.Duration(n%3) * time.Millisecond) // delays between reading the clock and using the time
		return time.Date(2026, 4, 25, 20, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Second)
	}, Unsigned: true}
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() {
			if _, err := issuer.Issue(context.Background(), undated(fmt.Sprint("receipt_", i))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	var last time.Time
	for e, err := range l.Walk(context.Background(), ledger.Query{}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		var r struct {
			IssuedAt time.Time `json:"issued_at"`
		}
		if err := json.Unmarshal(e.JSON, &r); err != nil || r.IssuedAt.Before(last) {
			t.Errorf("receipt %d is of %s, the one before it of %s, %v", e.Position, r.IssuedAt, last, err)
		}
		last = r.IssuedAt
	}
}

// TestClockGoesBack verifies that, if a clock was set back, its time is recorded unchanged, the
// chain stays intact, and verification reports a warning.
func TestClockGoesBack(t *testing.T) {
	at := time.Date(2026, 4, 25, 20, 0, 0, 0, time.UTC)
	l := create(t)
	issuer := &ledger.Issuer{Store: l, Signer: signer(t), Now: func() time.Time { at = at.Add(-time.Hour); return at }}
	var first *receipt.Sealed
	for i := range 3 {
		r, err := issuer.Issue(context.Background(), undated(fmt.Sprint("receipt_", i)))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = r
		}
	}
	if again, err := issuer.Issue(context.Background(), undated("receipt_0")); err != nil || again.Hash() != first.Hash() {
		t.Errorf("again: %v, %v", again, err)
	}
	c, err := ledger.Check(context.Background(), l, verifier(t, receipt.Policy{}), func(f ledger.Fault) { t.Errorf("%+v", f) }, nil)
	if err != nil || c.Verified != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	var lines strings.Builder
	for e, err := range l.Walk(context.Background(), ledger.Query{}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%s\n", e.JSON)
	}
	warned := 0
	run := stream.Verify(context.Background(), verifier(t, receipt.Policy{}), strings.NewReader(lines.String()), stream.Options{})
	for rep := range run.Reports() {
		for _, w := range rep.Warnings {
			if w.Code == receipt.CodeTimeOrder && strings.Contains(w.Detail, "its predecessor") {
				warned++
			}
		}
	}
	if sum, err := run.Summary(); err != nil || sum.Verified != 3 || warned != 2 {
		t.Errorf("%+v, %v, %d warnings", sum, err, warned)
	}
}

// TestSameDraftAtOnce verifies that concurrent issues of the same draft through several issuers
// return the same receipt. If two different drafts have the same ID, one must be stored and the
// other must be rejected with an error.
func TestSameDraftAtOnce(t *testing.T) {
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "ledger.db")
	l, err := sqlite.Create(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	other, err := sqlite.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var mu sync.Mutex
	won, refused := map[string]map[string]int{}, map[string]int{}
	var group sync.WaitGroup
	issuers := []*ledger.Issuer{{Store: l, Signer: signer(t), Now: time.Now}, {Store: other, Signer: signer(t), Now: time.Now}, {Store: l, Signer: signer(t), Now: time.Now}}
	for i := range 48 {
		issuer := issuers[i%3]
		id, content := fmt.Sprint("receipt_", i%4), fmt.Sprint(i/4%2)
		group.Go(func() {
			d := undated(id)
			d.Metadata = receipt.Object{"content": content}
			r, err := issuer.Issue(ctx, d)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				if won[id] == nil {
					won[id] = map[string]int{}
				}
				won[id][content+" "+r.Hash().String()]++
			case errors.Is(err, ledger.ErrDuplicateID):
				refused[id]++
			default:
				t.Error(err)
			}
		})
	}
	group.Wait()
	for id, receipts := range won {
		if len(receipts) != 1 || refused[id] != 6 {
			t.Errorf("%s: %v, %d refused", id, receipts, refused[id])
		}
	}
	if c, list := faults(t, path, verifier(t, receipt.Policy{IntegrityOnly: true})); c.Verified != 4 || len(list) > 0 {
		t.Errorf("%+v, %q", c, list)
	}
}

// slow signs as slowly as a remote key service.
type slow struct {
	receipt.Signer
	takes time.Duration
	calls atomic.Int64
}

func (s *slow) Sign(ctx context.Context, message []byte) (receipt.Signature, error) {
	s.calls.Add(1)
	select {
	case <-time.After(s.takes):
		return s.Signer.Sign(ctx, message)
	case <-ctx.Done():
		return receipt.Signature{}, ctx.Err()
	}
}

// TestSlowSigners verifies that three issuers can issue into the same stream at the same time
// without a gap. Two of them have signers that take 100 ms, and the third does not sign.
func TestSlowSigners(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits")
	}
	const takes = 100 * time.Millisecond
	ctx, l := context.Background(), create(t)
	var group sync.WaitGroup
	issue := func(name string, n int, issuer *ledger.Issuer) {
		for i := range n {
			group.Go(func() {
				if _, err := issuer.Issue(ctx, draft(fmt.Sprintf("%s_%d", name, i), "w")); err != nil {
					t.Error(err)
				}
			})
		}
	}
	signers := []*slow{{Signer: signer(t), takes: takes}, {Signer: signer(t), takes: takes}}
	begun := time.Now()
	issue("a", 24, &ledger.Issuer{Store: l, Signer: signers[0]})
	issue("b", 24, &ledger.Issuer{Store: l, Signer: signers[1]})
	fast := &ledger.Issuer{Store: l, Unsigned: true, KeepSecrets: true}
	for i := range 10 {
		if _, err := fast.Issue(ctx, draft(fmt.Sprint("fast_", i), "w")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(takes)
	}
	group.Wait()
	t.Logf("%s, %d and %d signatures for 48 receipts", time.Since(begun).Round(time.Millisecond), signers[0].calls.Load(), signers[1].calls.Load())
	c, err := ledger.Check(ctx, l, verifier(t, receipt.Policy{IntegrityOnly: true}), func(f ledger.Fault) { t.Errorf("%+v", f) }, nil)
	if err != nil || c.Verified != 58 {
		t.Errorf("%+v, %v", c, err)
	}
}

// A liar is a store that breaks its contract.
type liar struct {
	*sqlite.Ledger
	head   func(chain.Head, error) (chain.Head, error)
	append func(func() error) error
	find   func() (*receipt.Sealed, error)
}

func (s *liar) Head(ctx context.Context, of chain.Stream) (chain.Head, error) {
	h, err := s.Ledger.Head(ctx, of)
	if s.head != nil {
		return s.head(h, err)
	}
	return h, err
}

func (s *liar) Append(ctx context.Context, runs ...ledger.Run) error {
	store := func() error { return s.Ledger.Append(ctx, runs...) }
	if s.append != nil {
		return s.append(store)
	}
	return store()
}

func (s *liar) Find(ctx context.Context, k ledger.Key) (*ledger.Row, error) {
	if s.find == nil {
		return s.Ledger.Find(ctx, k)
	}
	sealed, err := s.find()
	if err != nil {
		return nil, err
	}
	rows, err := ledger.RowsOf(ledger.Run{Stream: sealed.Stream(), Receipts: []*receipt.Sealed{sealed}})
	if err != nil {
		return nil, err
	}
	return &rows[0][0], nil
}

// once returns a function that applies the lie only to the first call.
func once(lie func(func() error) error) func(func() error) error {
	var told atomic.Bool
	return func(store func() error) error {
		if told.CompareAndSwap(false, true) {
			return lie(store)
		}
		return store()
	}
}

// TestLyingStore verifies that, regardless of the results that a store returns, an issuer
// terminates and never returns a receipt that was created from another draft.
func TestLyingStore(t *testing.T) {
	other, err := receipt.Seal(draft("receipt_2", "w"), chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	changed := draft("receipt_1", "w")
	changed.Metadata = receipt.Object{"a": 1}
	sameID, err := receipt.Seal(changed, chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	down := errors.New("down")
	taken := func(func() error) error { return ledger.ErrDuplicateID }
	isMoved := func(err error) bool {
		return errors.Is(err, ledger.ErrHeadMoved) && errors.Is(err, ledger.ErrNotStored) && !isUnknown(err)
	}
	for name, test := range map[string]struct {
		store liar
		want  func(error) bool
	}{
		"taken, and not there":            {liar{append: taken}, isUnknown},
		"taken, by another id":            {liar{append: taken, find: func() (*receipt.Sealed, error) { return other, nil }}, func(err error) bool { return isUnknown(err) && errors.As(err, new(*ledger.Fault)) }},
		"taken, by another content":       {liar{append: taken, find: func() (*receipt.Sealed, error) { return sameID, nil }}, func(err error) bool { return errors.Is(err, ledger.ErrDuplicateID) }},
		"taken, and cannot be read":       {liar{append: taken, find: func() (*receipt.Sealed, error) { return nil, down }}, func(err error) bool { return isUnknown(err) && errors.Is(err, down) }},
		"no head":                         {liar{head: func(chain.Head, error) (chain.Head, error) { return chain.Head{}, down }}, func(err error) bool { return errors.Is(err, down) && !isUnknown(err) }},
		"always moved":                    {liar{append: func(func() error) error { return ledger.ErrHeadMoved }}, isMoved},
		"an old head":                     {liar{head: func(chain.Head, error) (chain.Head, error) { return chain.Head{}, nil }}, isMoved},
		"stored, and says that it is not": {liar{append: once(func(store func() error) error { return errors.Join(store(), ledger.ErrHeadMoved) })}, func(err error) bool { return err == nil }},
	} {
		test.store.Ledger = create(t)
		if name == "an old head" {
			if _, err := (&ledger.Issuer{Store: test.store.Ledger, Unsigned: true, KeepSecrets: true}).Issue(context.Background(), draft("receipt_0", "w")); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
		issuer := &ledger.Issuer{Store: &test.store, KeepSecrets: true, Unsigned: true}
		ended := make(chan struct{})
		var r *receipt.Sealed
		var err error
		go func() {
			r, err = issuer.Issue(ctx, draft("receipt_1", "w"))
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: it does not end", name)
		}
		cancel()
		if !test.want(err) || err != nil && r != nil || r != nil && !strings.Contains(string(r.JSON()), `"receipt_id":"receipt_1"`) {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}
