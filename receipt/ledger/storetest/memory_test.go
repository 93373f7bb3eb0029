package storetest_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A fault is what a store does wrong.
type fault string

const (
	correct      fault = ""
	forks        fault = "compares heads with those that its own handle remembers"
	dropsLast    fault = "drops the 128th receipt of a run"
	reorders     fault = "stores the receipts of a run in the opposite order"
	losesAnswers fault = "stores a run, and reports that it did not"
	noPrefix     fault = "numbers runs when they begin, and shows them when they end"
	ignores      fault = "ignores the context"
)

// A memory is a handle on a minimal store.
type memory struct {
	*shared
	fault fault

	mu   sync.Mutex
	seen map[chain.Stream]chain.Head // the handle's own memory, of a store that forks
}

// A shared is what all handles on a store have in common.
type shared struct {
	mu      sync.Mutex
	turn    map[chain.Stream]*sync.Mutex // one append at a time in each stream
	heads   map[chain.Stream]chain.Head
	byID    map[string]*receipt.Sealed
	list    []entry // in the order of its numbers
	numbers int64
}

type entry struct {
	number int64
	*receipt.Sealed
}

func newMemory(f fault) (handle func() ledger.Store) {
	s := &shared{turn: map[chain.Stream]*sync.Mutex{}, heads: map[chain.Stream]chain.Head{}, byID: map[string]*receipt.Sealed{}}
	return func() ledger.Store {
		return &memory{shared: s, fault: f, seen: map[chain.Stream]chain.Head{}}
	}
}

// ended returns the error of a context that has ended.
func (m *memory) ended(ctx context.Context) error {
	if m.fault == ignores {
		return nil
	}
	return ctx.Err()
}

func (m *memory) Head(ctx context.Context, s chain.Stream) (chain.Head, error) {
	m.shared.mu.Lock()
	defer m.shared.mu.Unlock()
	return m.heads[s], m.ended(ctx)
}

func (m *memory) Get(ctx context.Context, id string) (*receipt.Sealed, error) {
	if err := m.ended(ctx); err != nil {
		return nil, err
	}
	m.shared.mu.Lock()
	defer m.shared.mu.Unlock()
	if r := m.byID[id]; r != nil {
		return r, nil
	}
	return nil, ledger.ErrNotFound
}

func (m *memory) Walk(ctx context.Context, _ ledger.Query, after int64) iter.Seq2[ledger.Entry, error] {
	return func(yield func(ledger.Entry, error) bool) {
		if err := m.ended(ctx); err != nil {
			yield(ledger.Entry{}, err)
			return
		}

		m.shared.mu.Lock()
		list := slices.Clone(m.list)
		m.shared.mu.Unlock()
		for _, e := range list {
			if e.number > after && !yield(ledger.Entry{Sequence: e.number, ID: e.ID(), Hash: e.Hash(), Stream: e.Stream(), JSON: e.JSON()}, nil) {
				return
			}
		}
	}
}

func (m *memory) Append(ctx context.Context, s chain.Stream, previous chain.Head, run ...*receipt.Sealed) error {
	if err := m.ended(ctx); err != nil {
		return fmt.Errorf("%w: %w", ledger.ErrNotStored, err)
	}
	defer m.lock(s)()

	m.shared.mu.Lock()
	defer m.shared.mu.Unlock()
	head, err := m.check(s, previous, run)
	if err != nil {
		return err
	}

	list := m.number(run)
	if m.fault == noPrefix {
		// Others are numbered and shown while a long run is written.
		m.shared.mu.Unlock()
		time.Sleep(time.Duration(len(run)) * 500 * time.Microsecond)
		m.shared.mu.Lock()
	}
	for _, e := range list {
		m.byID[e.ID()] = e.Sealed
	}
	m.list = append(m.list, list...)
	slices.SortStableFunc(m.list, func(a, b entry) int { return cmp.Compare(a.number, b.number) })
	m.heads[s], m.seen[s] = head, head

	if m.fault == losesAnswers {
		time.Sleep(100 * time.Microsecond)
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%w: %w", ledger.ErrNotStored, err)
		}
	}
	return nil
}

// lock waits for the caller's turn to append to a stream.
func (m *memory) lock(s chain.Stream) (unlock func()) {
	if m.fault == forks {
		m.mu.Lock()
		return m.mu.Unlock
	}
	m.shared.mu.Lock()
	turn := m.turn[s]
	if turn == nil {
		turn = new(sync.Mutex)
		m.turn[s] = turn
	}
	m.shared.mu.Unlock()
	turn.Lock()
	return turn.Unlock
}

// check returns the head of a stream after a run.
func (m *memory) check(s chain.Stream, previous chain.Head, run []*receipt.Sealed) (head chain.Head, err error) {
	ids := map[string]bool{}
	for _, r := range run {
		if m.byID[r.ID()] != nil || ids[r.ID()] {
			return head, ledger.ErrDuplicateID
		}
		ids[r.ID()] = true
	}

	head = m.heads[s]
	if m.fault == forks {
		head = m.seen[s]
	}
	if head.Hash != previous.Hash {
		return head, ledger.ErrHeadMoved
	}
	for _, r := range run {
		if err := ledger.Follows(s, head, r); err != nil {
			return head, err
		}
		head = chain.Head{Hash: r.Hash(), Count: head.Count + 1}
	}
	return head, nil
}

// number gives the receipts of a run their places in the order of the store.
func (m *memory) number(run []*receipt.Sealed) (list []entry) {
	for i, r := range run {
		if m.fault == dropsLast && i == 127 {
			continue
		}
		m.numbers++
		list = append(list, entry{m.numbers, r})
	}
	if m.fault == reorders {
		for i := range len(list) / 2 {
			j := len(list) - 1 - i
			list[i].number, list[j].number = list[j].number, list[i].number
		}
	}
	return list
}
