package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/redact"
)

// An Issuer creates receipts from drafts and appends them to their streams. Its methods are safe
// for concurrent use, but its fields must not change after the first call. A stream waits for the
// slowest call to the signer, so the signer should return when its context ends.
type Issuer struct {
	Store  Store
	Signer receipt.Signer // required unless Unsigned is set

	// Unsigned seals receipts without signing them. Their hashes are valid, but anyone can compute
	// a hash, so nothing proves who issued these receipts. Signer must then be nil. Signatures can
	// be added later with [Sign].
	Unsigned bool

	// Now returns the issued_at for drafts that have none. It is called when the draft is linked,
	// so the times in a stream never decrease unless the clock goes backward. If Now is nil, such
	// drafts are refused.
	Now func() time.Time

	// Secrets finds values that must not be in a receipt. If it is nil, the default policy of
	// package redact is used. A draft with such values is not issued.
	Secrets *redact.Policy

	// KeepSecrets issues drafts without searching them for secrets.
	KeepSecrets bool

	// StoreTimeout limits the duration of each call to Head, Append, and Find. Zero means no limit,
	// which is suitable for SQLite, because SQLite waits at most one minute for other processes. A
	// store on a network needs a limit. The context of a call has the same values as the context of
	// the draft that has waited longest, but does not end with that context.
	StoreTimeout time.Duration

	once    sync.Once
	err     error          // of once
	secrets *redact.Policy // Secrets, or the default policy

	mu     sync.Mutex
	queues map[chain.Stream]*queue
	closed bool
	idle   chan struct{} // created by Close, and closed when there are no queues
}

const (
	mostRun     = 128 // maximum number of receipts that are committed together
	mostSigning = 8   // maximum number of receipts that are signed at the same time
)

// A SecretsError indicates that a draft contains values that look like secrets. It contains the
// locations of these values, but not the values themselves.
type SecretsError struct{ Findings []redact.Finding }

// Error lists the locations and the rules of the first ten findings.
func (e *SecretsError) Error() string {
	var b strings.Builder
	b.WriteString("ledger: the draft holds what looks like secrets; redact it first")
	for i, f := range e.Findings {
		if i == 10 {
			fmt.Fprintf(&b, "\nand %d more", len(e.Findings)-i)
			break
		}
		fmt.Fprintf(&b, "\n%s at %.200q", f.Rule, f.Pointer)
	}
	return b.String()
}

// Issue seals, signs, and stores a draft, and returns the receipt. The draft is a *[receipt.Draft],
// a *[canon.Document], or any other value whose JSON form is a draft, such as a json.RawMessage.
// Issue reads the draft once, before it waits for anything. If a receipt with the same receipt_id
// and content is already stored, Issue returns that receipt. If the issuer signs but the stored
// receipt is unsigned, the error is ErrUnsigned.
//
// Every error is an *[IssueError]. A panic in the Store, the Signer, or Now occurs in a goroutine
// of the issuer, so it terminates the program.
func (i *Issuer) Issue(ctx context.Context, draft json.Marshaler) (*receipt.Sealed, error) {
	if err := i.prepare(); err != nil {
		return nil, &IssueError{stageAccept, StoredNo, false, err}
	}
	if err := ctx.Err(); err != nil {
		return nil, &IssueError{stageAccept, StoredNo, true, err}
	}

	// The issuer uses only this copy, so the caller may change the draft.
	text, err := draft.MarshalJSON()
	if err != nil {
		return nil, refused(err)
	}
	doc := new(canon.Document)
	if err := doc.Parse(text, canon.Limits{Bytes: 4 * receipt.MaxBytes}); err != nil {
		problem := receipt.Problem{Code: receipt.CodeSyntax, Detail: err.Error()}
		if syntax, ok := errors.AsType[*canon.SyntaxError](err); ok {
			problem.Pointer, problem.Code = syntax.Pointer, receipt.Code(syntax.Code)
		}
		return nil, refused(&receipt.InvalidError{Problems: []receipt.Problem{problem}})
	}

	return i.wait(ctx, newJob(ctx, doc, i.Now != nil))
}

// untilKnownPause is how long IssueUntilKnown pauses before it issues a draft again.
const untilKnownPause = 100 * time.Millisecond

// IssueUntilKnown is like Issue, but if the outcome is unknown, it issues the same draft again
// until the outcome is known, the context ends, or the issuer is closed. In its error, Stored is
// StoredUnknown only in the last two cases, or if the stored receipt has been pruned and cannot be
// compared with the draft. There is never a second receipt for the draft. If ctx has no deadline,
// IssueUntilKnown waits until the outcome is known.
func (i *Issuer) IssueUntilKnown(ctx context.Context, draft json.Marshaler) (*receipt.Sealed, error) {
	sealed, err := i.Issue(ctx, draft)
	doubt, failed := errors.AsType[*IssueError](err)
	if !failed || doubt.Stored != StoredUnknown || !doubt.Temporary {
		return sealed, err
	}

	for {
		select {
		case <-time.After(untilKnownPause):
		case <-ctx.Done():
			return nil, doubt
		}

		// Only a result about the receipt_id also applies to the earlier attempts. If this attempt
		// stored nothing, an earlier attempt may still have stored the receipt.
		sealed, err = i.Issue(ctx, draft)
		switch {
		case err == nil, answers(err):
			return sealed, err
		case errors.Is(err, ErrClosed):
			return nil, doubt
		}
	}
}

// answers reports whether an error is about the receipt that is stored under the draft's
// receipt_id.
func answers(err error) bool {
	return errors.Is(err, ErrDuplicateID) || errors.Is(err, ErrUnsigned) || errors.As(err, new(*PrunedError))
}

// Close makes Issue refuse new drafts with ErrClosed, and waits for the drafts that were accepted.
// After Close returns nil, the issuer has no goroutines and no longer uses the Store. If ctx ends
// first, Close returns an error. The accepted drafts are still processed, and Close may be called
// again. Close does not close the Store.
func (i *Issuer) Close(ctx context.Context) error {
	i.mu.Lock()
	i.closed = true
	if i.idle == nil {
		i.idle = make(chan struct{})
		if len(i.queues) == 0 {
			close(i.idle)
		}
	}
	i.mu.Unlock()

	select {
	case <-i.idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("ledger: closing the issuer: accepted drafts are still being stored: %w", ctx.Err())
	}
}

func (i *Issuer) prepare() error {
	i.once.Do(func() {
		switch {
		case i.Store == nil:
			i.err = errors.New("ledger: issuer has no store")
		case i.Signer == nil && !i.Unsigned:
			i.err = errors.New("ledger: issuer has no signer; set Unsigned to issue receipts without signatures")
		case i.Signer != nil && i.Unsigned:
			i.err = errors.New("ledger: issuer has a signer, but Unsigned is set")
		}

		if i.err != nil {
			return
		}

		// The rules are compiled only once, for all drafts.
		i.secrets = i.Secrets
		if i.secrets == nil && !i.KeepSecrets {
			i.secrets, i.err = redact.Everyday()
		}
	})
	return i.err
}

// wait adds a job to the queue of its stream, and waits until the job has ended.
func (i *Issuer) wait(ctx context.Context, j *job) (*receipt.Sealed, error) {
	i.mu.Lock()
	if i.closed {
		i.mu.Unlock()
		return nil, &IssueError{stageAccept, StoredNo, false, ErrClosed}
	}
	if i.queues == nil {
		i.queues = map[chain.Stream]*queue{}
	}

	// The first job of a stream starts a worker, which ends when the queue of the stream is empty.
	stream := chain.StreamOf(j.draft)
	q := i.queues[stream]
	if q == nil {
		q = &queue{window: mostSigning}
		i.queues[stream] = q
		go i.work(stream, q)
	}

	q.waiting = append(q.waiting, j)
	i.mu.Unlock()

	select {
	case <-j.done:
		return j.sealed, j.err
	case <-ctx.Done():
	}

	// If a run already contains the job, the run may still store it, so the outcome is unknown.
	i.mu.Lock()
	taken := j.taken
	j.taken = true // by nobody
	i.mu.Unlock()
	if taken {
		return nil, &IssueError{stageStore, StoredUnknown, true, ctx.Err()}
	}

	return nil, &IssueError{stageAccept, StoredNo, true, ctx.Err()}
}

// work processes the waiting jobs, one run after another, until the queue is empty.
func (i *Issuer) work(s chain.Stream, q *queue) {
	for {
		run := i.take(s, q)
		if run == nil {
			return
		}
		a := &attempt{Issuer: i, stream: s, queue: q, run: run}
		a.commit(context.WithoutCancel(run[0].ctx))
	}
}

// take returns the next run, which contains at most one job per receipt_id and omits jobs whose
// callers have left. If the queue is empty, take removes it and returns nil.
func (i *Issuer) take(s chain.Stream, q *queue) []*job {
	i.mu.Lock()
	defer i.mu.Unlock()

	// A second job with the same receipt_id waits, so that the next run finds the receipt of the
	// first job in the store.
	var run, later []*job
	ids := map[string]bool{}
	for _, j := range q.waiting {
		switch {
		case j.taken:
		case len(run) == mostRun || ids[j.id]:
			later = append(later, j)
		default:
			j.taken, ids[j.id] = true, true
			run = append(run, j)
		}
	}

	if q.waiting = later; len(run) == 0 {
		delete(i.queues, s)
		if i.idle != nil && len(i.queues) == 0 {
			close(i.idle)
		}
		return nil
	}

	return run
}

// check searches a receipt for secrets.
func (i *Issuer) check(sealed *receipt.Sealed) error {
	if i.KeepSecrets {
		return nil
	}
	if found := i.secrets.Find(sealed.Document()); len(found) > 0 {
		return &SecretsError{found}
	}
	return nil
}
