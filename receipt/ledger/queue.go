package ledger

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A job represents a draft that is being issued.
type job struct {
	ctx     context.Context
	id      string
	draft   *canon.Document
	undated bool // the issuer sets issued_at
	taken   bool // the job is part of a run; guarded by mu of the issuer

	// These fields describe the receipt for the current predecessor. They are kept as long as the
	// predecessor remains the same.
	after   chain.Head
	sealed  *receipt.Sealed
	checked bool // for secrets
	signed  bool

	err  error
	done chan struct{}
}

func newJob(ctx context.Context, draft *canon.Document, dates bool) *job {
	root := draft.Root()
	return &job{
		ctx: ctx, id: root.Member("receipt_id").String(), draft: draft,
		undated: dates && root.Kind() == canon.KindObject && root.Member("issued_at").IsZero(),
		done:    make(chan struct{}),
	}
}

func (j *job) end(sealed *receipt.Sealed, err error) {
	j.sealed, j.err = sealed, err
	close(j.done)
}

// seal creates a receipt that follows head, and sets issued_at if the draft has none.
func (j *job) seal(head chain.Head, at receipt.Time) (*receipt.Sealed, error) {
	draft := j.draft
	if j.undated {
		text := append([]byte(`{"issued_at":`), canon.AppendString(nil, at.String())...)
		for name, value := range draft.Root().Members() {
			text = append(append(text, ','), name.Raw()...)
			text = append(append(text, ':'), value.Raw()...)
		}

		draft = new(canon.Document)
		if err := draft.Parse(append(text, '}'), canon.Limits{Bytes: 4 * receipt.MaxBytes}); err != nil {
			return nil, err
		}
	}
	return receipt.SealDocument(draft, head)
}

// A queue contains the jobs that are waiting for the same stream. It exists as long as a goroutine
// processes it.
type queue struct {
	waiting []*job

	// window is the number of signatures that are requested at the same time. If a signature fails,
	// all later signatures are useless, so fewer are requested after a failure. Only the worker of
	// the queue uses these fields.
	window, signed int
}

// paced adjusts the window to the result of a signature.
func (q *queue) paced(failed bool) {
	switch q.signed++; {
	case failed:
		q.window, q.signed = 1, 0
	case q.signed >= q.window && q.window < mostSigning:
		q.window, q.signed = q.window+1, 0
	}
}

// An attempt processes one run.
type attempt struct {
	*Issuer
	stream chain.Stream
	queue  *queue
	run    []*job // jobs that have not ended yet
}

// keep ends each job for which judge returns a result, and keeps the others.
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

// fail ends all jobs with the given error.
func (a *attempt) fail(err error) {
	a.keep(func(*job) (*receipt.Sealed, error) { return nil, err })
}

// signingTurn is the maximum time for which a turn continues while receipts are being signed. A
// slower signer, such as a key service, does not delay other processes; its receipts are appended
// if no other process has appended receipts first.
const signingTurn = 250 * time.Millisecond

// If one of these limits is reached, the store is no longer trusted.
const (
	mostRounds = 1000 // number of rounds in which the head has moved
	mostStale  = 16   // number of rounds in which the store reports that the head has moved, but returns the same head
)

// commit repeats rounds until all jobs have ended. Its context does not end with the context of any
// caller, because a caller that leaves must not cancel the receipts of other callers.
func (a *attempt) commit(ctx context.Context) {
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

		// If the head moves, at least one other process makes progress. If the store reports that
		// the head has moved but then returns the same head, the store contradicts itself.
		if stale == mostStale || round >= mostRounds {
			err := fmt.Errorf("%w, %d times; its head is recorded as %v: %w", ErrHeadMoved, round+1, head.Hash, ErrNotStored)
			a.fail(&IssueError{stageStore, StoredNo, true, err})
			return
		}

		pause(round)
	}
}

// round reads the head, links and signs receipts, and appends them. If the store supports turns, it
// does this in a turn. It returns the head, and reports whether the head has moved in the meantime.
func (a *attempt) round(ctx context.Context, again bool) (head chain.Head, moved bool) {
	// A turn ends when receipts are appended, or earlier if signing takes so long that it would
	// delay other processes.
	if store, ok := a.Store.(TurnStore); ok {
		of, done := store.Turn(ctx, a.stream, again)
		defer done()
		defer time.AfterFunc(signingTurn, done).Stop()
		ctx = of
	}

	head, err := a.head(ctx)
	if err != nil {
		a.fail(&IssueError{stageHead, StoredNo, true, err})
		return head, false
	}

	a.link(head)
	ready := a.sign()
	if ready == 0 {
		return head, false
	}

	// The outcome is known only if the error describes it. A store may wrap ErrNotStored in
	// addition to ErrHeadMoved or ErrDuplicateID, which are more specific.
	switch err := a.append(ctx, head, a.run[:ready]); {
	case err == nil:
		n := 0
		a.keep(func(j *job) (*receipt.Sealed, error) {
			if n++; n > ready {
				return nil, nil // these jobs are linked again, after those receipts
			}
			return j.sealed, nil
		})
	case errors.Is(err, ErrHeadMoved):
		return head, true
	case errors.Is(err, ErrDuplicateID):
		if !a.settle(ctx) {
			a.fail(&IssueError{stageStore, StoredUnknown, true, err}) // the store contradicts itself
		}
	case errors.Is(err, ErrNotStored):
		readOnly := errors.Is(err, errors.ErrUnsupported)
		a.fail(&IssueError{stageStore, StoredNo, !readOnly, err})
	default:
		a.fail(&IssueError{stageStore, StoredUnknown, true, err})
	}

	return head, false
}

// leave ends the jobs of callers that have left, provided that nothing has been stored for these
// jobs.
func (a *attempt) leave() {
	a.keep(func(j *job) (*receipt.Sealed, error) {
		if err := j.ctx.Err(); err != nil {
			return nil, &IssueError{stageStore, StoredNo, true, err}
		}
		return nil, nil
	})
}

// link seals the jobs of the run, so that they follow head. A receipt that already follows its
// predecessor is kept, including its signature. A draft that is refused, or whose caller has left,
// is skipped, so that there is no gap.
func (a *attempt) link(head chain.Head) {
	a.leave()
	var now receipt.Time
	if a.Now != nil {
		now = receipt.At(a.Now())
	}

	a.keep(func(j *job) (*receipt.Sealed, error) {
		if j.sealed != nil && j.after == head {
			head = j.sealed.Head()
			return nil, nil
		}

		sealed, err := j.seal(head, now)
		if err == nil && !j.checked {
			err = a.check(sealed)
		}
		if err != nil {
			return nil, refused(err)
		}

		j.after, j.sealed, j.checked, j.signed = head, sealed, true, false
		head = sealed.Head()
		return nil, nil
	})
}

// sign signs the receipts of the run. It returns the number of receipts before the first one that
// could not be signed, because only these receipts can be appended. Later receipts follow the
// receipt that could not be signed, so they must be linked and signed again.
func (a *attempt) sign() (ready int) {
	if a.Signer == nil {
		return len(a.run)
	}

	// A signer may be a remote service, and each call signs a single hash, so several signatures
	// are requested at the same time. After a failure, no further signatures are requested, because
	// they would be useless.
	errs := make([]error, len(a.run))
	ended := make(chan int)
	failed, signing := false, 0
	for next := 0; ; {
		for ; next < len(a.run) && !failed && signing < a.queue.window; next++ {
			if n, j := next, a.run[next]; !j.signed {
				signing++
				go func() { errs[n] = j.sign(a.Signer); ended <- n }()
			}
		}
		if signing == 0 {
			break
		}

		bad := errs[<-ended] != nil
		signing--
		failed = failed || bad
		a.queue.paced(bad)
	}

	// The results are processed in the order of the receipts in the run, regardless of the order in
	// which they arrive.
	n := -1
	failed = false
	a.keep(func(*job) (*receipt.Sealed, error) {
		n++
		if errs[n] != nil {
			failed = true
			return nil, &IssueError{stageSign, StoredNo, true, errs[n]}
		}
		if !failed {
			ready++
		}
		return nil, nil
	})

	return ready
}

// sign adds the signature to the receipt.
func (j *job) sign(signer receipt.Signer) error {
	signed, err := j.sealed.Sign(j.ctx, signer)
	if err != nil {
		return err
	}
	j.sealed, j.signed = signed, true
	return nil
}

// limited returns a context for a single call to the store.
func (a *attempt) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.StoreTimeout == 0 {
		return ctx, func() {} // SQLite starts a goroutine for each statement whose context can end
	}
	return context.WithTimeout(ctx, a.StoreTimeout)
}

func (a *attempt) head(ctx context.Context) (chain.Head, error) {
	ctx, cancel := a.limited(ctx)
	defer cancel()
	return a.Store.Head(ctx, a.stream)
}

func (a *attempt) append(ctx context.Context, head chain.Head, jobs []*job) error {
	run := make([]*receipt.Sealed, len(jobs))
	for n, j := range jobs {
		run[n] = j.sealed
	}

	ctx, cancel := a.limited(ctx)
	defer cancel()
	return a.Store.Append(ctx, Run{a.stream, head, run})
}

// settle ends jobs whose receipt_id is already stored. If the content of the stored receipt is the
// same, that receipt is the result of the job. settle reports whether it ended any job.
func (a *attempt) settle(ctx context.Context) bool {
	// The stored receipt is the result if it was created from the same draft.
	before := len(a.run)
	a.keep(func(j *job) (*receipt.Sealed, error) {
		ctx, cancel := a.limited(ctx)
		defer cancel()
		stored, err := Get(ctx, a.Store, j.id)
		switch {
		case errors.Is(err, ErrNotFound):
			return nil, nil
		case err != nil:
			return nil, storedError(err)
		case !j.made(stored):
			return nil, storedError(ErrDuplicateID)
		case a.Signer != nil && len(signatures(stored)) == 0:
			return nil, storedError(ErrUnsigned)
		}
		return stored, nil
	})

	return len(a.run) < before
}

// made reports whether a stored receipt was created from the draft of this job. If the issuer sets
// issued_at, a receipt from an earlier attempt contains an earlier time.
func (j *job) made(stored *receipt.Sealed) bool {
	doc, sealed := stored.Document(), j.sealed
	if j.undated {
		at, err := receipt.ParseTime(doc.Root().Member("issued_at").String())
		if err != nil {
			return false
		}
		if sealed, err = j.seal(j.after, receipt.Time{Time: at}); err != nil {
			return false
		}
	}
	return receipt.BatchLeaf(doc) == receipt.BatchLeaf(sealed.Document())
}

// pause gives other processes time to finish. It sleeps for a random time of up to 1 ms in the
// first round; this maximum doubles with each round, up to 64 ms.
func pause(round int) {
	time.Sleep(rand.N(time.Millisecond << min(round, 6)))
}
