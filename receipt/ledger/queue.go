package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A job is the issuing of one draft.
type job struct {
	ctx     context.Context
	id      string
	seal    func(chain.Head) (*receipt.Sealed, error)
	redate  func(receipt.Time) // sets issued_at, where the issuer does; else nil
	checked bool               // for secrets
	taken   bool               // by a run; guarded by the issuer's mu

	mu   sync.Mutex // held while the draft is read
	gone bool       // the caller has left, and may change the draft; guarded by mu

	sealed *receipt.Sealed // of the current attempt
	err    error
	done   chan struct{}
}

func (j *job) end(sealed *receipt.Sealed, err error) {
	j.sealed, j.err = sealed, err
	close(j.done)
}

// read seals the draft onto a head, and dates it if the issuer does that. After the caller has
// left, the draft belongs to the caller alone.
func (j *job) read(head chain.Head, at receipt.Time) (*receipt.Sealed, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.gone {
		return nil, j.ctx.Err()
	}

	if j.redate != nil {
		j.redate(at)
	}
	return j.seal(head)
}

// leave records that the caller does not wait any longer.
func (j *job) leave() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.gone = true
}

// A queue contains the jobs that wait for one stream. It exists while a goroutine works on it.
type queue struct{ waiting []*job }

// An attempt completes one run.
type attempt struct {
	*Issuer
	stream chain.Stream
	run    []*job // that have not ended
}

// keep ends the jobs for which judge returns a result, and keeps the others.
func (a *attempt) keep(judge func(*job) (*receipt.Sealed, error)) {
	left := a.run[:0]
	for _, j := range a.run {
		if sealed, err := judge(j); sealed != nil || err != nil {
			j.end(sealed, err)
		} else {
			left = append(left, j)
		}
	}
	a.run = left
}

// fail ends all jobs with an error.
func (a *attempt) fail(err error) {
	a.keep(func(*job) (*receipt.Sealed, error) { return nil, err })
}

// signingTurn is how long a signer keeps a turn. A slower one, such as a key service, does not
// delay the others: it appends if nobody was faster.
const signingTurn = 250 * time.Millisecond

// Bounds after which a store is no longer trusted.
const (
	mostRounds = 1000 // in which the head has moved
	mostStale  = 16   // in which it has moved, and is the same as before
)

// commit repeats rounds until every job has ended. The store is called without the context of a
// caller, because a caller that leaves must not end the receipts of the others.
func (a *attempt) commit() {
	ctx := context.Background()
	var last chain.Head
	for round, stale := 0, 0; len(a.run) > 0; round++ {
		if a.leave(); len(a.run) == 0 {
			return
		}

		head, moved := a.round(ctx, round > 0)
		if !moved {
			continue
		}

		if stale++; head != last {
			last, stale = head, 0
		}

		// A head that others move is progress. A head that moves and stays the same shows a store
		// that contradicts itself.
		if stale == mostStale || round >= mostRounds {
			a.fail(fmt.Errorf("%w, %d times; its head is said to be %v: %w", ErrHeadMoved, round+1, head.Hash, ErrNotStored))
			return
		}

		pause(round)
	}
}

// round reads the head, links, signs, and appends, in turn if the store has turns. It returns the
// head, and whether the head moved in the meantime.
func (a *attempt) round(ctx context.Context, again bool) (head chain.Head, moved bool) {
	// A turn ends with the append, or when signing takes so long that it would delay others.
	if store, ok := a.Store.(TurnStore); ok {
		of, done := store.Turn(ctx, a.stream, again)
		defer done()
		defer time.AfterFunc(signingTurn, done).Stop()
		ctx = of
	}

	head, err := a.Store.Head(ctx, a.stream)
	if err != nil {
		a.fail(err)
		return head, false
	}

	a.link(head)
	ready := a.sign()
	if ready == 0 {
		return head, false
	}

	// The outcome is known only if the error states it.
	switch err := a.append(ctx, head, a.run[:ready]); {
	case err == nil:
		n := 0
		a.keep(func(j *job) (*receipt.Sealed, error) {
			if n++; n > ready {
				return nil, nil // linked again after those
			}
			return j.sealed, nil
		})
	case errors.Is(err, ErrNotStored):
		a.fail(err)
	case errors.Is(err, ErrHeadMoved):
		return head, true
	case errors.Is(err, ErrDuplicateID):
		if !a.settle(ctx) {
			a.fail(&UnknownOutcomeError{err}) // a store that contradicts itself
		}
	default:
		a.fail(&UnknownOutcomeError{err})
	}

	return head, false
}

// leave ends the jobs whose callers have left, of which nothing was stored yet.
func (a *attempt) leave() {
	a.keep(func(j *job) (*receipt.Sealed, error) { return nil, j.ctx.Err() })
}

// link seals the run onto a head. A refused draft leaves no gap.
func (a *attempt) link(head chain.Head) {
	var now receipt.Time
	if a.Now != nil {
		now = receipt.At(a.Now())
	}

	// Each draft is linked to the one before it. A refused draft is skipped, so there is no gap.
	a.keep(func(j *job) (*receipt.Sealed, error) {
		sealed, err := j.read(head, now)
		if err == nil && !j.checked {
			err = a.check(sealed)
		}
		if err != nil {
			return nil, err
		}
		j.sealed, j.checked, head = sealed, true, sealed.Head()
		return nil, nil
	})
}

// sign signs the run and returns how many receipts can be appended: those before the first one that
// could not be signed. Those after it name it as a predecessor, and must be linked and signed
// again.
func (a *attempt) sign() (ready int) {
	if a.Signer == nil {
		return len(a.run)
	}

	// A signer may be a remote service, so several signatures are requested at the same time, each
	// for one hash.
	errs := make([]error, len(a.run))
	var stop atomic.Bool
	var group sync.WaitGroup
	slots := make(chan struct{}, mostSigning)

	for n, j := range a.run {
		if slots <- struct{}{}; stop.Load() {
			break // signatures after a failure are useless
		}
		group.Go(func() {
			defer func() { <-slots }()
			signed, err := j.sealed.Sign(j.ctx, a.Signer)
			if err != nil {
				errs[n] = err
				stop.Store(true)
				return
			}
			j.sealed = signed
		})
	}
	group.Wait()

	// The results are processed in the order of the run, regardless of which signature came first.
	n, failed := -1, false
	a.keep(func(*job) (*receipt.Sealed, error) {
		n++
		if failed = failed || errs[n] != nil; !failed {
			ready++
		}
		return nil, errs[n]
	})

	return ready
}

func (a *attempt) append(ctx context.Context, head chain.Head, jobs []*job) error {
	run := make([]*receipt.Sealed, len(jobs))
	for n, j := range jobs {
		run[n] = j.sealed
	}
	return a.Store.Append(ctx, a.stream, head, run...)
}

// settle ends the jobs whose receipt_id is already stored: with the stored receipt if it has the
// same content. It reports whether there was one.
func (a *attempt) settle(ctx context.Context) bool {
	// The stored receipt is the answer if it was created from the draft.
	before := len(a.run)
	a.keep(func(j *job) (*receipt.Sealed, error) {
		stored, err := a.Store.Get(ctx, j.sealed.ID())
		switch {
		case errors.As(err, new(*PrunedError)):
			return nil, err
		case errors.Is(err, ErrNotFound):
			return nil, nil
		case err != nil:
			return nil, &UnknownOutcomeError{err}
		case !j.made(stored):
			return nil, ErrDuplicateID
		case a.Signer != nil && len(signatures(stored)) == 0:
			return nil, ErrUnsigned
		}
		return stored, nil
	})

	return len(a.run) < before
}

// made reports whether a stored receipt was created from this draft. If the issuer set the time, an
// earlier attempt set an earlier one.
func (j *job) made(stored *receipt.Sealed) bool {
	doc, sealed := stored.Document(), j.sealed
	if j.redate != nil {
		at, err := receipt.ParseTime(doc.Root().Member("issued_at").String())
		if err != nil {
			return false
		}
		if sealed, err = j.read(chain.Head{}, receipt.Time{Time: at}); err != nil {
			return false
		}
	}
	return receipt.BatchLeaf(doc) == receipt.BatchLeaf(sealed.Document())
}

// pause lets other processes finish: a random time of up to 1 ms, then 2, … 64.
func pause(round int) {
	time.Sleep(rand.N(time.Millisecond << min(round, 6)))
}
