package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

// faulty is a ledger whose results can be replaced by errors.
type faulty struct {
	*sqlite.Ledger
	mu     sync.Mutex
	before []error // returned instead of storing the receipt
	after  []error // returned although the receipt was stored
	hold   chan struct{}
	runs   []int // lengths of the runs that were stored; a run is repeated if its head has moved
}

func (f *faulty) next(list *[]error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(*list) == 0 {
		return nil
	}
	err := (*list)[0]
	*list = (*list)[1:]
	return err
}

func (f *faulty) Append(ctx context.Context, runs ...ledger.Run) error {
	if f.hold != nil {
		<-f.hold
	}
	if err := f.next(&f.before); err != nil {
		return err
	}
	if err := f.Ledger.Append(ctx, runs...); err != nil {
		return err
	}

	f.mu.Lock()
	f.runs = append(f.runs, len(runs[0].Receipts))
	f.mu.Unlock()
	return f.next(&f.after)
}

// TestIssueTwice verifies that a draft that is issued again leads to a single receipt, regardless
// of the results that the store returns.
func TestIssueTwice(t *testing.T) {
	ctx, lost := context.Background(), errors.New("the connection was lost")
	for name, test := range map[string]*faulty{
		"nothing was stored": {before: []error{lost}},
		"it was stored":      {after: []error{lost}},
		"the head moved":     {before: []error{ledger.ErrHeadMoved, ledger.ErrHeadMoved, lost}},
	} {
		test.Ledger = create(t)
		issuer := &ledger.Issuer{Store: test, Signer: signer(t)}
		_, err := issuer.Issue(ctx, draft("receipt_1", "w"))
		if !isUnknown(err) || !errors.Is(err, lost) || !strings.Contains(err.Error(), "issue the same draft again") {
			t.Errorf("%s: %v", name, err)
		}
		r, err := issuer.Issue(ctx, draft("receipt_1", "w"))
		if err != nil {
			t.Errorf("%s: again: %v", name, err)
			continue
		}
		head, err := test.Head(ctx, r.Stream())
		if err != nil || head.Count != 1 || head.Hash != r.Hash() {
			t.Errorf("%s: the head is %v, %v", name, head, err)
		}
	}
}

// TestIssueUntilKnown verifies that a draft is issued again while its outcome is unknown. An
// attempt that stores nothing must not determine the outcome of an earlier attempt.
func TestIssueUntilKnown(t *testing.T) {
	lost := errors.New("the connection was lost")
	other := draft("receipt_1", "w")
	other.Metadata = receipt.Object{"a": "b"}
	for name, test := range map[string]struct {
		store   *faulty
		signing error          // signing error in the second attempt
		first   *receipt.Draft // draft that was stored before; nil if there is none
		want    error          // nil: a receipt
	}{
		"stored, and lost twice":            {store: &faulty{after: []error{lost}, before: []error{nil, lost, lost}}},
		"never there, and the signer fails": {store: &faulty{before: []error{lost}}, signing: errors.New("the signer is away")},
		"another content has the id":        {store: &faulty{before: []error{lost}}, first: other, want: ledger.ErrDuplicateID},
		"nothing was stored, and it is so":  {store: &faulty{before: []error{ledger.ErrNotStored}}, want: ledger.ErrNotStored},
	} {
		t.Run(name, func(t *testing.T) {
			test.store.Ledger = create(t)
			if test.first != nil {
				if _, err := (&ledger.Issuer{Store: test.store.Ledger, Signer: signer(t)}).Issue(t.Context(), test.first); err != nil {
					t.Fatal(err)
				}
			}
			issuer := &ledger.Issuer{Store: test.store, Signer: &failing{Signer: signer(t), calls: func(n int) error {
				if n == 2 {
					return test.signing
				}
				return nil
			}}}
			r, err := issuer.IssueUntilKnown(t.Context(), draft("receipt_1", "w"))
			if !errors.Is(err, test.want) {
				t.Fatalf("%v, expected %v", err, test.want)
			}
			if err != nil {
				return
			}
			if head, err := test.store.Head(t.Context(), r.Stream()); err != nil || head.Count != 1 || head.Hash != r.Hash() {
				t.Errorf("the head is %v, %v", head, err)
			}
		})
	}

	// The first attempt is stored, but its outcome is unknown. Later attempts report that they
	// stored nothing.
	store := &faulty{Ledger: create(t), after: []error{lost}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	issuer := &ledger.Issuer{Store: store, Signer: &failing{Signer: signer(t), calls: func(n int) error {
		if n > 2 {
			cancel() // cancels after enough attempts, regardless of their duration
		}
		if n > 1 {
			return errors.New("the signer is away")
		}
		return nil
	}}}
	_, err := issuer.IssueUntilKnown(ctx, draft("receipt_1", "w"))
	if !isUnknown(err) || !errors.Is(err, lost) {
		t.Errorf("%v, expected an unknown outcome", err)
	}
	if _, err := ledger.Get(t.Context(), store, "receipt_1"); err != nil {
		t.Error(err)
	}
}

// TestIssueDated verifies that the issuer sets the date of drafts that have none, and later finds
// the receipts for these drafts.
func TestIssueDated(t *testing.T) {
	ctx, clock := context.Background(), time.Date(2026, 4, 25, 20, 0, 0, 123456789, time.FixedZone("", 7200))
	issuer := &ledger.Issuer{Store: create(t), Now: func() time.Time { clock = clock.Add(time.Hour); return clock }, Unsigned: true}
	undated := func() *receipt.Draft {
		d := draft("receipt_1", "w")
		d.IssuedAt = receipt.Time{}
		return d
	}
	given := undated()
	first, err := issuer.Issue(ctx, given)
	if err != nil || !strings.Contains(string(first.JSON()), `"issued_at":"2026-04-25T19:00:00.123Z"`) {
		t.Fatalf("%s, %v", first.JSON(), err)
	}
	if !given.IssuedAt.IsZero() {
		t.Error("the caller's draft was changed")
	}
	if again, err := issuer.Issue(ctx, undated()); err != nil || again.Hash() != first.Hash() {
		t.Errorf("again: %v, %v", again, err)
	}
	other := undated()
	other.Metadata = receipt.Object{"a": "b"}
	if _, err := issuer.Issue(ctx, other); !errors.Is(err, ledger.ErrDuplicateID) {
		t.Errorf("another content: %v", err)
	}
	var invalid *receipt.InvalidError
	if _, err := (&ledger.Issuer{Store: create(t), Unsigned: true}).Issue(ctx, undated()); !errors.As(err, &invalid) || !strings.Contains(invalid.Problems[0].Detail, "issued_at") {
		t.Errorf("without a clock: %v", err)
	}
}

// TestIssueSecrets verifies that drafts with values that look like secrets are not issued, and that
// errors do not contain these values.
func TestIssueSecrets(t *testing.T) {
	ctx, l := context.Background(), create(t)
	secret := "gh" + "p_" + strings.Repeat("q7Zk2mXw9R", 4)[:36]
	d := draft("receipt_1", "w")
	d.Metadata = receipt.Object{"note": "use " + secret}
	_, err := (&ledger.Issuer{Store: l, Unsigned: true}).Issue(ctx, d)
	var found *ledger.SecretsError
	if !errors.As(err, &found) || len(found.Findings) != 1 || found.Findings[0].Pointer != "/metadata/note" {
		t.Fatalf("%v", err)
	}
	if text := fmt.Sprintf("%v %+v %#v", err, err, found); strings.Contains(text, secret) || !strings.Contains(text, "/metadata/note") {
		t.Errorf("the error is %s", text)
	}
	if _, err := ledger.Get(ctx, l, "receipt_1"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("it was stored: %v", err)
	}
	if _, err := (&ledger.Issuer{Store: l, KeepSecrets: true, Unsigned: true}).Issue(ctx, d); err != nil {
		t.Errorf("KeepSecrets: %v", err)
	}
}

// failing is a signer that fails for some receipts.
type failing struct {
	receipt.Signer
	calls func(n int) error
	mu    sync.Mutex
	n     int
}

func (f *failing) Sign(ctx context.Context, message []byte) (receipt.Signature, error) {
	f.mu.Lock()
	f.n++
	err := f.calls(f.n)
	f.mu.Unlock()
	if err != nil {
		return receipt.Signature{}, err
	}
	return f.Signer.Sign(ctx, message)
}

// TestIssueSigner verifies that, if a signer fails, only the affected receipts are lost and there
// is no gap. The same must apply if drafts are invalid.
func TestIssueSigner(t *testing.T) {
	ctx, broken := context.Background(), errors.New("the key service is out of order")
	store := &faulty{Ledger: create(t), hold: make(chan struct{})}
	var failed atomic.Int64
	issuer := &ledger.Issuer{Store: store, Signer: &failing{Signer: signer(t), calls: func(n int) error {
		if n%5 == 0 {
			failed.Add(1)
			return broken
		}
		return nil
	}}}
	const drafts = 40
	errs := make([]error, drafts)
	var group sync.WaitGroup
	for i := range drafts {
		group.Go(func() {
			d := draft(fmt.Sprintf("receipt_%d", i), "w")
			if i%7 == 3 {
				d.Cost.Currency = "no currency"
			}
			_, errs[i] = issuer.Issue(ctx, d)
		})
	}
	close(store.hold)
	group.Wait()
	stored, refused := 0, 0
	for i, err := range errs {
		var invalid *receipt.InvalidError
		switch _, missing := ledger.Get(ctx, store, fmt.Sprintf("receipt_%d", i)); {
		case err == nil && missing == nil:
			stored++
		case errors.Is(err, broken) && missing != nil:
			refused++
		case errors.As(err, &invalid) && missing != nil && i%7 == 3:
		default:
			t.Errorf("receipt %d: %v, in the ledger: %v", i, err, missing)
		}
	}
	if refused == 0 || int64(refused) != failed.Load() || stored+refused != drafts-6 {
		t.Errorf("%d stored, %d refused; the signer failed %d times", stored, refused, failed.Load())
	}
	c, err := ledger.Check(ctx, store, verifier(t, receipt.Policy{}), func(f ledger.Fault) { t.Errorf("%+v", f) }, nil)
	if err != nil || c.Verified != stored {
		t.Errorf("%+v, %v, expected %d", c, err, stored)
	}
}

// TestIssueGroups verifies that drafts that wait for the same stream are committed together.
func TestIssueGroups(t *testing.T) {
	store := &faulty{Ledger: create(t), hold: make(chan struct{})}
	issuer := &ledger.Issuer{Store: store, Unsigned: true}
	var group sync.WaitGroup
	for i := range 300 {
		group.Go(func() {
			if _, err := issuer.Issue(context.Background(), draft(fmt.Sprintf("receipt_%d", i), "w")); err != nil {
				t.Error(err)
			}
		})
	}
	store.hold <- struct{}{} // at least one batch has started, and the other drafts are waiting
	close(store.hold)
	group.Wait()
	total := 0
	for _, n := range store.runs {
		if total += n; n > 128 {
			t.Errorf("a run has %d receipts", n)
		}
	}
	if total != 300 {
		t.Errorf("runs of %v", store.runs)
	}
}

// TestIssueCancelled verifies that a caller gets the context's error if it cancels before any work
// has been done, and an unknown outcome if it cancels later.
func TestIssueCancelled(t *testing.T) {
	store := &faulty{Ledger: create(t), hold: make(chan struct{})}
	issuer := &ledger.Issuer{Store: store, Signer: signer(t)}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := issuer.Issue(ended, draft("receipt_0", "w")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	first, cancelFirst := context.WithCancel(context.Background())
	second, cancelSecond := context.WithCancel(context.Background())
	errs := make(chan error)
	signed := make(chan struct{})
	issuer.Signer = &failing{Signer: signer(t), calls: func(n int) error {
		if n == 1 {
			close(signed)
		}
		return nil
	}}
	go func() { _, err := issuer.Issue(first, draft("receipt_1", "w")); errs <- err }()
	<-signed // the draft is being processed
	cancelFirst()
	if err := <-errs; !isUnknown(err) || !errors.Is(err, context.Canceled) {
		t.Errorf("taken: %v", err)
	}
	go func() { _, err := issuer.Issue(second, draft("receipt_2", "w")); errs <- err }()
	cancelSecond() // the draft waits for the first one
	if err := <-errs; isUnknown(err) || !errors.Is(err, context.Canceled) {
		t.Errorf("waiting: %v", err)
	}
	close(store.hold)
	if _, err := issuer.Issue(context.Background(), draft("receipt_3", "w")); err != nil {
		t.Error(err)
	}
	if _, err := ledger.Get(context.Background(), store, "receipt_2"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("lookup of receipt_2: %v, expected ErrNotFound", err)
	}
}

func TestIssueJSON(t *testing.T) {
	ctx, l := context.Background(), create(t)
	issuer := &ledger.Issuer{Store: l, Unsigned: true}
	sealed, err := receipt.Seal(draft("receipt_1", "w"), chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(sealed.JSON()), `"chain":{"previous_receipt_hash":null,"receipt_hash":"`+sealed.Hash().String()+`"},`, "", 1)
	text = strings.Replace(text, `,"signatures":[]`, "", 1)
	doc, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r, err := issuer.Issue(ctx, doc); err != nil || r.Hash() != sealed.Hash() {
			t.Errorf("%v, %v", r, err)
		}
	}
}

// TestIssuerIncomplete verifies that an issuer without a signer is refused unless Unsigned is set.
func TestIssuerIncomplete(t *testing.T) {
	ctx, l := context.Background(), create(t)
	for want, issuer := range map[string]*ledger.Issuer{
		"has no store":        {Signer: signer(t)},
		"has no signer":       {Store: l},
		"but Unsigned is set": {Store: l, Signer: signer(t), Unsigned: true},
	} {
		for range 2 {
			if _, err := issuer.Issue(ctx, draft("receipt_1", "w")); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", want, err)
			}
		}
		if _, err := issuer.Issue(ctx, new(canon.Document)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := ledger.Get(ctx, l, "receipt_1"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("it was stored: %v", err)
	}
}

// TestSign verifies that issuing a draft again with a signer returns ErrUnsigned. It also verifies
// that a signature can be added once per key, without changing the receipt.
func TestSign(t *testing.T) {
	ctx, l, key := context.Background(), create(t), signer(t)
	unsigned := &ledger.Issuer{Store: l, Unsigned: true}
	first, err := unsigned.Issue(ctx, draft("receipt_1", "w"))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := (&ledger.Issuer{Store: l, Signer: key}).Issue(ctx, draft("receipt_1", "w")); !errors.Is(err, ledger.ErrUnsigned) || r != nil {
		t.Errorf("again, with a signer: %v, %v", r, err)
	}
	broken := errors.New("the key service is out of order")
	if _, err := ledger.Sign(ctx, l, "receipt_1", &failing{Signer: key, calls: func(int) error { return broken }}); !errors.Is(err, broken) {
		t.Errorf("a signer that fails: %v", err)
	}
	if _, err := ledger.Sign(ctx, l, "receipt_2", key); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("an absent one: %v", err)
	}

	// Many goroutines sign at the same time, and the signatures of all of them are kept.
	var group sync.WaitGroup
	for i := range 12 {
		group.Go(func() {
			signed, err := ledger.Sign(ctx, l, "receipt_1", renamed{key, fmt.Sprint("other_", i%6)})
			if err != nil || signed.Hash() != first.Hash() {
				t.Errorf("%v, %v", signed, err)
			}
		})
	}
	group.Wait()
	signed, err := ledger.Sign(ctx, l, "receipt_1", key)
	if err != nil || strings.Count(string(signed.JSON()), `"key_id"`) != 7 {
		t.Fatalf("%s, %v", signed.JSON(), err)
	}
	for name, again := range map[string]func() (*receipt.Sealed, error){
		"sign": func() (*receipt.Sealed, error) { return ledger.Sign(ctx, l, "receipt_1", key) },
		"issue": func() (*receipt.Sealed, error) {
			return (&ledger.Issuer{Store: l, Signer: key}).Issue(ctx, draft("receipt_1", "w"))
		},
		"issue unsigned": func() (*receipt.Sealed, error) { return unsigned.Issue(ctx, draft("receipt_1", "w")) },
	} {
		if r, err := again(); err != nil || string(r.JSON()) != string(signed.JSON()) {
			t.Errorf("%s again: %v, %v", name, r, err)
		}
	}
	if c, err := ledger.Check(ctx, l, verifier(t, receipt.Policy{}), func(f ledger.Fault) { t.Errorf("%+v", f) }, nil); err != nil || c.Verified != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

// renamed signs with another key ID.
type renamed struct {
	receipt.Signer
	id string
}

func (r renamed) Sign(ctx context.Context, message []byte) (receipt.Signature, error) {
	s, err := r.Signer.Sign(ctx, message)
	s.KeyID = r.id
	return s, err
}
