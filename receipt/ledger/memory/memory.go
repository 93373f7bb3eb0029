// Package memory stores a ledger in memory, for tests and for programs that store receipts
// elsewhere.
package memory

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A Ledger is a [ledger.Reader] and a [ledger.Replacer] whose content is lost when the program
// ends. It is safe for concurrent use. The zero Ledger is empty.
type Ledger struct {
	mu      sync.RWMutex
	rows    []ledger.Row // in the order in which they were stored; only their JSON is ever replaced
	byID    map[string]int
	byHash  map[canon.Digest]int
	streams map[chain.Stream][]int // rows by position
}

// head returns the head of a stream.
func (l *Ledger) head(s chain.Stream) (h chain.Head) {
	if rows := l.streams[s]; len(rows) > 0 {
		h = chain.Head{Hash: l.rows[rows[len(rows)-1]].Hash, Count: uint64(len(rows))}
	}
	return h
}

// Head implements [ledger.Store].
func (l *Ledger) Head(ctx context.Context, s chain.Stream) (chain.Head, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.head(s), ctx.Err()
}

// Append implements [ledger.Store].
func (l *Ledger) Append(ctx context.Context, runs ...ledger.Run) error {
	all, err := ledger.RowsOf(runs...)
	if err != nil {
		return err
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", ledger.ErrNotStored, err)
	}

	// Everything is checked before anything is stored.
	ends := map[chain.Stream]canon.Digest{}
	for i, run := range runs {
		for _, r := range all[i] {
			if _, taken := l.byID[r.ID]; taken {
				return ledger.ErrDuplicateID
			}
		}
		end, known := ends[run.Stream]
		if !known {
			end = l.head(run.Stream).Hash
		}
		if end != run.Previous.Hash {
			return ledger.ErrHeadMoved
		}
		if n := len(all[i]); n > 0 {
			ends[run.Stream] = all[i][n-1].Hash
		}
	}

	if l.streams == nil {
		l.byID, l.byHash, l.streams = map[string]int{}, map[canon.Digest]int{}, map[chain.Stream][]int{}
	}
	for _, r := range slices.Concat(all...) {
		n := len(l.rows)
		r.Sequence, r.Position = int64(n)+1, l.head(r.Stream).Count+1
		l.rows = append(l.rows, r)
		l.byID[r.ID], l.byHash[r.Hash] = n, n
		l.streams[r.Stream] = append(l.streams[r.Stream], n)
	}
	return nil
}

// Find implements [ledger.Store].
func (l *Ledger) Find(ctx context.Context, k ledger.Key) (*ledger.Row, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	var none ledger.Key
	n, ok := 0, false
	switch of := l.streams[k.Stream]; {
	case k.ID != "":
		n, ok = l.byID[k.ID]
	case k.Hash != none.Hash:
		n, ok = l.byHash[k.Hash]
	case k.Position > 0 && k.Position <= uint64(len(of)):
		n, ok = of[k.Position-1], true
	}
	if !ok || k.Sees != nil && !k.Sees(l.rows[n].Stream) {
		return nil, ledger.ErrNotFound
	}
	r := l.rows[n]
	return &r, nil
}

// Streams implements [ledger.Reader].
func (l *Ledger) Streams(ctx context.Context) (list []ledger.StreamHead, err error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for s, rows := range l.streams {
		list = append(list, ledger.StreamHead{Stream: s, Head: l.head(s), Last: uint64(len(rows))})
	}
	slices.SortFunc(list, func(a, b ledger.StreamHead) int { return a.Stream.Compare(b.Stream) })
	return list, ctx.Err()
}

// Replace implements [ledger.Replacer].
func (l *Ledger) Replace(ctx context.Context, was, is *receipt.Sealed) (replaced bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("%w: %w", ledger.ErrNotStored, err)
	}
	n, ok := l.byID[was.ID()]
	if !ok || !bytes.Equal(l.rows[n].JSON, was.JSON()) {
		return false, nil
	}
	l.rows[n].JSON = is.JSON()
	return true, nil
}

// Walk implements [ledger.Reader].
func (l *Ledger) Walk(ctx context.Context, q ledger.Query, after int64) iter.Seq2[ledger.Row, error] {
	return func(yield func(ledger.Row, error) bool) {
		found := 0
		for n := int(max(after, 0)); q.Limit <= 0 || found < q.Limit; n++ {
			r, more := l.at(n)
			if err := ctx.Err(); err != nil {
				yield(ledger.Row{}, err)
				return
			}
			if !more || !q.Until.IsZero() && r.IssuedAt >= q.Until.UnixMilli() {
				return
			}
			if !q.Selects(&r) {
				continue
			}
			if found++; !yield(r, nil) {
				return
			}
		}
	}
}

// at returns the row at a position, and reports whether there is one.
func (l *Ledger) at(n int) (r ledger.Row, ok bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if n >= len(l.rows) {
		return r, false
	}
	return l.rows[n], true
}
