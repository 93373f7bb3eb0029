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

// A job is one draft on its way.
type job struct {
	ctx     context.Context
	id      string
	seal    func(chain.Head) (*receipt.Sealed, error)
	redate  func(receipt.Time) // sets issued_at, where the issuer does; else nil
	checked bool               // that it holds no secrets
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

// read seals the draft onto a head, dated when the issuer does that. From the
// moment at which the caller has left the draft is the caller's alone.
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

// leave says that the caller does not wait any longer.
func (j *job) leave() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.gone = true
}

// A queue is what waits for one stream. It exists while a goroutine works on it.
type queue struct{ waiting []*job }

// An attempt brings one run to its end.
type attempt struct {
	*Issuer
	stream chain.Stream
	run    []*job // that are not ended
}

// keep ends the jobs that judge returns a result for, and keeps the others.
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

// signingTurn is for how long a signer keeps a turn. One that takes longer, such as a
// key service, does not keep the others waiting: it appends if nobody was faster.
const signingTurn = 250 * time.Millisecond

// Bounds of what a store may say before it is no longer believed.
const (
	mostRounds = 1000 // that the head has moved
	mostStale  = 16   // that it has, and is the same as before
)

// commit tries until every job has ended. The store is called with the context
// of no caller: one that leaves must not end the receipts of the others.
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

		// A head that others move is progress. One that moves and is the same is a store that
		// contradicts itself.
		if stale == mostStale || round >= mostRounds {
			a.fail(fmt.Errorf("%w, %d times; its head is said to be %v: %w", ErrHeadMoved, round+1, head.Hash, ErrNotStored))
			return
		}

		pause(round)
	}
}

// round reads the head, links, signs and appends, in turn if the store has turns. It
// returns the head, and whether it moved meanwhile.
func (a *attempt) round(ctx context.Context, again bool) (head chain.Head, moved bool) {
	// A turn ends with the append, or when signing takes too long to keep others waiting.
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

	// Only an error that says so leaves the outcome known.
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

// leave ends the jobs whose callers are gone: nothing was stored of them yet.
func (a *attempt) leave() {
	a.keep(func(j *job) (*receipt.Sealed, error) { return nil, j.ctx.Err() })
}

// link seals the run onto a head. A draft that is refused leaves no gap.
func (a *attempt) link(head chain.Head) {
	var now receipt.Time
	if a.Now != nil {
		now = receipt.At(a.Now())
	}

	// Each links to the one before it. One that is refused is passed over, so that no gap comes.
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

// sign signs the run and returns how many can be appended: those before the first
// one that the signer failed for. Those after it name it as a predecessor and
// have to be linked and signed again.
func (a *attempt) sign() (ready int) {
	if a.Signer == nil {
		return len(a.run)
	}

	// A signer may be a service far away: several are asked at once, each for one hash.
	errs := make([]error, len(a.run))
	var stop atomic.Bool
	var group sync.WaitGroup
	slots := make(chan struct{}, mostSigning)

	for n, j := range a.run {
		if slots <- struct{}{}; stop.Load() {
			break // what comes after a failure is signed in vain
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

	// In the order of the run, whoever answered first.
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

// settle ends the jobs whose receipt_id is stored already: with the stored
// receipt if it has the same content. It reports whether there was one.
func (a *attempt) settle(ctx context.Context) bool {
	// The stored receipt is the answer if the draft is the one it was made of.
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

// made reports whether a stored receipt is of this draft. Where the issuer set
// the time, an earlier attempt set an earlier one.
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
