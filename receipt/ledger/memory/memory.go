// Package memory keeps a ledger in memory, for tests and for programs that store receipts elsewhere.
package memory

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A Ledger is a [ledger.Reader] and a [ledger.Replacer] that ends with the program. It can be used
// by several goroutines. The zero Ledger is empty.
type Ledger struct {
	mu     sync.RWMutex
	rows   []row // in the order in which they were stored; only their receipts are replaced
	byID   map[string]int
	byHash map[canon.Digest]int
	heads  map[chain.Stream]chain.Head
}

type row struct {
	*receipt.Sealed
	position uint64
}

func (l *Ledger) entry(n int) ledger.Entry {
	r := l.rows[n]
	return ledger.Entry{Sequence: int64(n) + 1, Position: r.position, ID: r.ID(), Hash: r.Hash(), Stream: r.Stream(), JSON: r.JSON()}
}

// Head is described at [ledger.Store].
func (l *Ledger) Head(ctx context.Context, s chain.Stream) (chain.Head, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.heads[s], ctx.Err()
}

// Append is described at [ledger.Store].
func (l *Ledger) Append(ctx context.Context, s chain.Stream, previous chain.Head, run ...*receipt.Sealed) error {
	return l.AppendRuns(ctx, []ledger.Run{{Stream: s, Previous: previous, Receipts: run}})
}

// AppendRuns is described at [ledger.BatchStore].
func (l *Ledger) AppendRuns(ctx context.Context, runs []ledger.Run) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", ledger.ErrNotStored, err)
	}

	// Nothing is stored before everything was checked.
	heads := map[chain.Stream]chain.Head{}
	ids := map[string]bool{}
	var rows []row
	for _, run := range runs {
		head, changed := heads[run.Stream]
		if !changed {
			head = l.heads[run.Stream]
		}
		for _, r := range run.Receipts {
			if _, stored := l.byID[r.ID()]; stored || ids[r.ID()] {
				return ledger.ErrDuplicateID
			}
			ids[r.ID()] = true
		}
		if head.Hash != run.Previous.Hash {
			return ledger.ErrHeadMoved
		}
		for _, r := range run.Receipts {
			if err := ledger.Follows(run.Stream, head, r); err != nil {
				return err
			}
			head = chain.Head{Hash: r.Hash(), Count: head.Count + 1}
			rows = append(rows, row{r, head.Count})
		}
		heads[run.Stream] = head
	}

	if l.heads == nil {
		l.byID, l.byHash, l.heads = map[string]int{}, map[canon.Digest]int{}, map[chain.Stream]chain.Head{}
	}
	for _, r := range rows {
		l.byID[r.ID()], l.byHash[r.Hash()] = len(l.rows), len(l.rows)
		l.rows = append(l.rows, r)
		l.heads[r.Stream()] = heads[r.Stream()]
	}
	return nil
}

// Get is described at [ledger.Store].
func (l *Ledger) Get(ctx context.Context, receiptID string) (*receipt.Sealed, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n, ok := l.byID[receiptID]
	if !ok {
		return nil, ledger.ErrNotFound
	}
	return l.rows[n].Sealed, nil
}

// ByHash is described at [ledger.Reader].
func (l *Ledger) ByHash(ctx context.Context, hash canon.Digest) (ledger.Entry, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return ledger.Entry{}, err
	}
	n, ok := l.byHash[hash]
	if !ok {
		return ledger.Entry{}, ledger.ErrNotFound
	}
	return l.entry(n), nil
}

// Streams is described at [ledger.Reader].
func (l *Ledger) Streams(ctx context.Context) (list []ledger.StreamHead, err error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for s, head := range l.heads {
		list = append(list, ledger.StreamHead{Stream: s, Head: head})
	}
	slices.SortFunc(list, func(a, b ledger.StreamHead) int { return a.Stream.Compare(b.Stream) })
	return list, ctx.Err()
}

// Replace is described at [ledger.Replacer].
func (l *Ledger) Replace(ctx context.Context, was, is *receipt.Sealed) (replaced bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("%w: %w", ledger.ErrNotStored, err)
	}
	n, ok := l.byID[was.ID()]
	if !ok || string(l.rows[n].JSON()) != string(was.JSON()) {
		return false, nil
	}
	l.rows[n].Sealed = is
	return true, nil
}

// Walk is described at [ledger.Reader].
func (l *Ledger) Walk(ctx context.Context, q ledger.Query, after int64) iter.Seq2[ledger.Entry, error] {
	return func(yield func(ledger.Entry, error) bool) {
		found := 0
		for n := int(max(after, 0)); q.Limit == 0 || found < q.Limit; n++ {
			e, selected, err := l.at(ctx, q, n)
			switch {
			case err != nil:
				yield(ledger.Entry{}, err)
				return
			case e.Sequence == 0:
				return
			case !selected:
				continue
			}
			if found++; !yield(e, nil) {
				return
			}
		}
	}
}

// at returns a receipt, and whether a query selects it. After the last one, or if the query ends
// there, the entry is zero.
func (l *Ledger) at(ctx context.Context, q ledger.Query, n int) (e ledger.Entry, selected bool, err error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if err := ctx.Err(); err != nil || n >= len(l.rows) {
		return e, false, err
	}

	root := l.rows[n].Document().Root()
	issued, err := receipt.ParseTime(root.Member("issued_at").String())
	if err != nil {
		return e, false, err
	}
	if !q.Until.IsZero() && !issued.Before(q.Until.Truncate(time.Millisecond)) {
		return e, false, nil
	}

	e = l.entry(n)
	ids, subject := root.Member("identifiers"), root.Member("subject")
	task := ids.Member("task_id").String() == q.Task || subject.Member("object").String() == "task" && subject.Member("id").String() == q.Task
	from, before, _ := q.Times()
	at := issued.UnixMilli()
	selected = (q.Task == "" || task) &&
		(q.Session == "" || ids.Member("session_id").String() == q.Session) &&
		(q.Stream == nil || *q.Stream == e.Stream) &&
		(q.Sees == nil || q.Sees(e.Stream)) &&
		at >= from && at < before
	return e, selected, nil
}
