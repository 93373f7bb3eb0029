package sqlite_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/memory"
)

// A table is an in-memory Store that records the contexts of its calls.
type table struct {
	memory.Ledger
	mu       sync.Mutex
	contexts []context.Context
	append   func(context.Context) error // called first
}

func (s *table) Head(ctx context.Context, of chain.Stream) (chain.Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.contexts = append(s.contexts, ctx)
	return s.Ledger.Head(ctx, of)
}

func (s *table) Append(ctx context.Context, runs ...ledger.Run) error {
	if s.append != nil {
		if err := s.append(ctx); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.contexts = append(s.contexts, ctx)
	return s.Ledger.Append(ctx, runs...)
}

func (s *table) Find(ctx context.Context, k ledger.Key) (*ledger.Row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.contexts = append(s.contexts, ctx)
	return s.Ledger.Find(ctx, k)
}

// TestStoreContexts verifies that the store receives a context with a deadline and the caller's
// values, and that a call ends when it exceeds the deadline.
func TestStoreContexts(t *testing.T) {
	type key struct{}
	store := new(table)
	issuer := &ledger.Issuer{Store: store, Unsigned: true, StoreTimeout: time.Hour}
	ctx := context.WithValue(t.Context(), key{}, "the caller's")
	for range 2 { // the second iteration only reads the receipt
		if _, err := issuer.Issue(ctx, draft("receipt_1", "w")); err != nil {
			t.Fatal(err)
		}
	}
	if len(store.contexts) != 5 {
		t.Errorf("%d calls, expected 5", len(store.contexts))
	}
	for i, ctx := range store.contexts {
		at, limited := ctx.Deadline()
		if left := time.Until(at); !limited || left < 50*time.Minute || left > time.Hour || ctx.Value(key{}) != "the caller's" {
			t.Errorf("call %d: deadline %v, value %v", i, at, ctx.Value(key{}))
		}
	}

	store.append = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	slow := &ledger.Issuer{Store: store, Unsigned: true, StoreTimeout: time.Millisecond}
	_, err := slow.Issue(t.Context(), draft("receipt_2", "w"))
	if failed, _ := errors.AsType[*ledger.IssueError](err); !errors.Is(err, context.DeadlineExceeded) || !isUnknown(err) || !failed.Temporary || failed.Stage != "store" {
		t.Errorf("a store that does not answer: %v", err)
	}
}

// TestClose verifies that Close waits for accepted drafts, rejects new ones, and leaves no
// goroutine behind.
func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	release, entered := make(chan struct{}), make(chan struct{}, 1)
	store := &table{append: func(context.Context) error { entered <- struct{}{}; <-release; return nil }}
	issuer := &ledger.Issuer{Store: store, Unsigned: true}
	errs := make(chan error, 2)
	for i := range 2 {
		go func() {
			_, err := issuer.Issue(context.Background(), draft(fmt.Sprint("receipt_", i), fmt.Sprint("w", i)))
			errs <- err
		}()
	}
	<-entered

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for { // wait until both drafts are accepted
		store.mu.Lock()
		n := len(store.contexts)
		store.mu.Unlock()
		if n == 2 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := issuer.Close(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("closed, but a draft is being stored: %v", err)
	}
	_, err := issuer.Issue(t.Context(), draft("receipt_3", "w"))
	if failed, _ := errors.AsType[*ledger.IssueError](err); !errors.Is(err, ledger.ErrClosed) || failed.Stored != ledger.StoredNo || failed.Temporary {
		t.Errorf("a draft after Close: %v", err)
	}
	if _, err := issuer.IssueUntilKnown(t.Context(), draft("receipt_3", "w")); !errors.Is(err, ledger.ErrClosed) {
		t.Errorf("a draft after Close: %v", err)
	}

	go func() { <-entered }()
	close(release)
	if err := issuer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if n := len(every(t, store.Walk(t.Context(), ledger.Query{}, 0))); n != 2 {
		t.Errorf("%d receipts are stored", n)
	}
	if err := issuer.Close(t.Context()); err != nil {
		t.Errorf("again: %v", err)
	}
	if err := new(ledger.Issuer).Close(t.Context()); err != nil {
		t.Errorf("unused: %v", err)
	}
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i == 30_000 {
			t.Fatalf("%d goroutines, before %d", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestSignCalls verifies the number of calls to a signer that sometimes fails. Each draft needs one
// call. After a failure, the calls for subsequent drafts that were made at the same time must be
// repeated.
func TestSignCalls(t *testing.T) {
	const drafts = 300
	for _, every := range []int{3, 10, 30, 100} {
		store := new(table)
		calls := 0
		sign := &failing{Signer: delayed{signer(t)}, calls: func(n int) error {
			calls = n
			if n%every == every-1 {
				return errors.New("the key service is out of order")
			}
			return nil
		}}
		issuer := &ledger.Issuer{Store: store, Signer: sign, KeepSecrets: true}
		var group sync.WaitGroup
		for i := range drafts {
			group.Go(func() {
				_, err := issuer.Issue(t.Context(), draft(fmt.Sprint("receipt_", i), "w"))
				if failed, _ := errors.AsType[*ledger.IssueError](err); err != nil && (failed.Stage != "sign" || failed.Stored != ledger.StoredNo || !failed.Temporary) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		ratio := float64(calls) / drafts
		t.Logf("one of %d fails: %.2f calls per draft", every, ratio)
		if ratio > 1.4 || calls < drafts {
			t.Errorf("one of %d fails: %d calls for %d drafts", every, calls, drafts)
		}
	}
}

// A delayed signer takes one millisecond, so that signatures are requested at the same time.
type delayed struct{ receipt.Signer }

func (d delayed) Sign(ctx context.Context, message []byte) (receipt.Signature, error) {
	time.Sleep(time.Millisecond)
	return d.Signer.Sign(ctx, message)
}

// TestSignaturesKept verifies that receipts whose predecessor did not change are not signed again
// if the rest of their run was rejected.
func TestSignaturesKept(t *testing.T) {
	store := new(table)
	other := draft("receipt_9", "elsewhere")
	if _, err := (&ledger.Issuer{Store: store, Unsigned: true}).Issue(t.Context(), other); err != nil {
		t.Fatal(err)
	}

	// The first run occupies the queue until all other drafts wait.
	hold, calls := make(chan struct{}), 0
	sign := &failing{Signer: signer(t), calls: func(n int) error {
		if calls = n; n == 1 {
			<-hold
		}
		return nil
	}}
	issuer := &ledger.Issuer{Store: store, Signer: sign, Now: time.Now}
	var group sync.WaitGroup
	issue := func(id string) {
		ctx := &awaited{Context: t.Context(), waits: make(chan struct{})}
		group.Go(func() {
			d := draft(id, "w")
			d.IssuedAt = receipt.Time{}
			if _, err := issuer.Issue(ctx, d); (err != nil) != (id == "receipt_9") {
				t.Errorf("%s: %v", id, err)
			}
		})
		<-ctx.waits // the drafts must wait in this order
	}
	for _, id := range []string{"receipt_0", "receipt_1", "receipt_2", "receipt_3", "receipt_9"} {
		issue(id)
	}
	close(hold)
	group.Wait()
	if n := len(every(t, store.Walk(t.Context(), ledger.Query{}, 0))); calls != 5 || n != 5 {
		t.Errorf("%d signatures for 5 drafts, %d stored", calls, n)
	}
}

// An awaited context closes the channel waits when someone first waits for its end. An issuer does
// this as soon as the draft is in the queue.
type awaited struct {
	context.Context
	once  sync.Once
	waits chan struct{}
}

func (c *awaited) Done() <-chan struct{} {
	c.once.Do(func() { close(c.waits) })
	return c.Context.Done()
}

// TestIssueAlike verifies that a draft, its document, and its JSON lead to the same receipt, the
// same date, and the same errors.
func TestIssueAlike(t *testing.T) {
	noon := time.Date(2026, 4, 25, 12, 0, 0, 0, time.UTC)
	undated := func(id string) *receipt.Draft {
		d := draft(id, "w")
		d.IssuedAt = receipt.Time{}
		return d
	}
	forms := map[string]func(*receipt.Draft) json.Marshaler{
		"draft": func(d *receipt.Draft) json.Marshaler { return d },
		"document": func(d *receipt.Draft) json.Marshaler {
			doc, err := d.Document()
			if err != nil {
				t.Fatal(err)
			}
			return doc
		},
		"text": func(d *receipt.Draft) json.Marshaler {
			text, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			return json.RawMessage(text)
		},
	}

	hashes := map[canon.Digest]bool{}
	for name, of := range forms {
		store, lost := new(table), 2
		store.append = func(context.Context) error {
			if lost--; lost >= 0 {
				return errors.New("the connection was lost")
			}
			return nil
		}
		issuer := &ledger.Issuer{Store: store, Unsigned: true, Now: func() time.Time { return noon }}
		r, err := issuer.IssueUntilKnown(t.Context(), of(undated("receipt_1")))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		hashes[r.Hash()] = true
		if !strings.Contains(string(r.JSON()), `"issued_at":"2026-04-25T12:00:00Z"`) {
			t.Errorf("%s: %s", name, r.JSON())
		}

		// Later, the clock shows another time, but the receipt is the same.
		noon := noon.Add(time.Hour)
		later := &ledger.Issuer{Store: store, Unsigned: true, Now: func() time.Time { return noon }}
		if again, err := later.Issue(t.Context(), of(undated("receipt_1"))); err != nil || again.Hash() != r.Hash() {
			t.Errorf("%s: again: %v", name, err)
		}

		bad := undated("receipt_2")
		bad.Cost.Currency = "no currency"
		_, err = issuer.Issue(t.Context(), of(bad))
		failed, _ := errors.AsType[*ledger.IssueError](err)
		if !errors.As(err, new(*receipt.InvalidError)) || failed.Stage != "seal" || failed.Stored != ledger.StoredNo || failed.Temporary {
			t.Errorf("%s: an invalid draft: %v", name, err)
		}
	}
	if len(hashes) != 1 {
		t.Errorf("%d receipts of one draft", len(hashes))
	}
}
