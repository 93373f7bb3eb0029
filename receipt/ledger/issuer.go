package ledger

import (
	"context"
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
// for concurrent use; its fields must not change after the first call. A stream waits for the
// slowest call of its signer, so a signer should end when its context does.
type Issuer struct {
	Store  Store
	Signer receipt.Signer // required, unless Unsigned is set

	// Unsigned seals receipts without signing them: they match their hashes, which anyone can
	// compute, and nobody vouches for them. Signer must be nil. [SQLite.Sign] adds signatures
	// later.
	Unsigned bool

	// Now dates drafts without issued_at when they are linked, so that the times in a stream do not
	// decrease unless the clock does. Nil: such drafts are refused.
	Now func() time.Time

	// Secrets finds values that must not be in a receipt. Nil: the default policy of package
	// redact. A draft with findings is not issued.
	Secrets *redact.Policy

	// KeepSecrets issues drafts without checking for secrets.
	KeepSecrets bool

	once sync.Once
	err  error // of once

	mu     sync.Mutex
	queues map[chain.Stream]*queue
}

const (
	mostRun     = 128 // receipts that are committed together
	mostSigning = 8   // receipts that are signed at the same time
)

// A SecretsError indicates that a draft contains values that look like secrets. It has their
// locations, but not the values.
type SecretsError struct{ Findings []redact.Finding }

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

// An UnknownOutcomeError indicates that a receipt may or may not be stored: issue the same draft
// again.
type UnknownOutcomeError struct{ Err error }

func (e *UnknownOutcomeError) Error() string {
	return fmt.Sprintf("ledger: it is not known whether the receipt is stored; issue the same draft again: %v", e.Err)
}

func (e *UnknownOutcomeError) Unwrap() error { return e.Err }

// Issue seals, signs, and stores a draft, and returns its receipt. If the receipt_id and the
// content of a draft are already stored, it returns the stored receipt. An issuer that signs
// returns no unsigned receipt: the error is ErrUnsigned.
//
// The draft is not read after Issue has returned, whatever the result. A panic of the Store, of the
// Signer, or of Now is in a goroutine of the issuer, so it ends the program.
//
// The error is a *[receipt.InvalidError], a *[SecretsError], ErrDuplicateID, ErrUnsigned, a
// *[PrunedError], an error of the signer or of Store.Head, or that of the context before anything
// was done, or it wraps ErrNotStored: nothing was stored. Otherwise, it is an
// *[UnknownOutcomeError].
func (i *Issuer) Issue(ctx context.Context, d *receipt.Draft) (*receipt.Sealed, error) {
	if err := i.prepare(); err != nil {
		return nil, err
	}

	// The receipt omits an empty tenant, so it is absent here, too.
	stream := chain.Stream{Issuer: d.Issuer.ID, Workspace: d.Identifiers.WorkspaceRef}
	if d.Identifiers.TenantID != "" {
		stream.Tenant, stream.HasTenant = d.Identifiers.TenantID, true
	}

	draft := *d // whose time may be set; everything else is only read
	j := &job{id: d.ReceiptID, seal: func(head chain.Head) (*receipt.Sealed, error) { return receipt.Seal(&draft, head) }}
	if d.IssuedAt.IsZero() && i.Now != nil {
		j.redate = func(at receipt.Time) { draft.IssuedAt = at }
	}

	return i.wait(ctx, stream, j)
}

// IssueDocument is Issue for a draft as JSON, with its issued_at.
func (i *Issuer) IssueDocument(ctx context.Context, d *canon.Document) (*receipt.Sealed, error) {
	if err := i.prepare(); err != nil {
		return nil, err
	}
	id := d.Root().Member("receipt_id").String()
	seal := func(head chain.Head) (*receipt.Sealed, error) { return receipt.SealDocument(d, head) }
	return i.wait(ctx, chain.StreamOf(d), &job{id: id, seal: seal})
}

// untilKnownPause is how long IssueUntilKnown waits before it issues a draft again.
const untilKnownPause = 100 * time.Millisecond

// IssueUntilKnown is Issue, but if the outcome is unknown, it issues the same draft again until the
// outcome is known or the context ends. Only in the latter case, the error is an
// *[UnknownOutcomeError]. There is never a second receipt. Without a deadline, it waits as long as
// the outcome is unknown.
func (i *Issuer) IssueUntilKnown(ctx context.Context, d *receipt.Draft) (*receipt.Sealed, error) {
	sealed, err := i.Issue(ctx, d)
	doubt, unknown := errors.AsType[*UnknownOutcomeError](err)
	if !unknown {
		return sealed, err
	}

	for {
		select {
		case <-time.After(untilKnownPause):
		case <-ctx.Done():
			return nil, doubt
		}

		// Only results that concern the receipt_id also apply to the previous attempt. That this
		// attempt stored nothing does not.
		sealed, err = i.Issue(ctx, d)
		if err == nil || errors.Is(err, ErrDuplicateID) || errors.Is(err, ErrUnsigned) || errors.As(err, new(*PrunedError)) {
			return sealed, err
		}
	}
}

func (i *Issuer) prepare() error {
	i.once.Do(func() {
		switch {
		case i.Store == nil:
			i.err = errors.New("ledger: the issuer has no store")
		case i.Signer == nil && !i.Unsigned:
			i.err = errors.New("ledger: the issuer has no signer; set Unsigned to make receipts that nobody vouches for")
		case i.Signer != nil && i.Unsigned:
			i.err = errors.New("ledger: the issuer has a signer, and Unsigned is set; set one of them")
		}

		if i.err != nil {
			return
		}

		// The rules are compiled once, for all drafts.
		if i.Secrets == nil && !i.KeepSecrets {
			i.Secrets, i.err = redact.Everyday()
		}
	})
	return i.err
}

// wait adds a job to the queue of its stream, and waits for its end.
func (i *Issuer) wait(ctx context.Context, s chain.Stream, j *job) (*receipt.Sealed, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	j.ctx, j.done = ctx, make(chan struct{})

	i.mu.Lock()
	if i.queues == nil {
		i.queues = map[chain.Stream]*queue{}
	}

	// The first job of a stream starts its worker, which ends when the queue is empty.
	q := i.queues[s]
	if q == nil {
		q = &queue{}
		i.queues[s] = q
		go i.work(s, q)
	}

	q.waiting = append(q.waiting, j)
	i.mu.Unlock()

	select {
	case <-j.done:
		return j.sealed, j.err
	case <-ctx.Done():
	}

	// A run that has taken the job may still store it, so the outcome is unknown.
	j.leave()
	i.mu.Lock()
	taken := j.taken
	j.taken = true // by nobody
	i.mu.Unlock()
	if taken {
		return nil, &UnknownOutcomeError{ctx.Err()}
	}

	return nil, ctx.Err()
}

// work commits the waiting jobs, run by run, until there are none.
func (i *Issuer) work(s chain.Stream, q *queue) {
	for {
		run := i.take(s, q)
		if run == nil {
			return
		}
		a := &attempt{Issuer: i, stream: s, run: run}
		a.commit()
	}
}

// take returns the next run, without jobs whose callers have left and with at most one job of a
// receipt_id. It returns nil if the queue is empty, and removes the queue.
func (i *Issuer) take(s chain.Stream, q *queue) []*job {
	i.mu.Lock()
	defer i.mu.Unlock()

	// A second job with the same receipt_id waits: the next run finds the first one stored.
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
		return nil
	}

	return run
}

// check checks a receipt for secrets.
func (i *Issuer) check(sealed *receipt.Sealed) error {
	if i.KeepSecrets {
		return nil
	}
	if found := i.Secrets.Find(sealed.Document()); len(found) > 0 {
		return &SecretsError{found}
	}
	return nil
}
