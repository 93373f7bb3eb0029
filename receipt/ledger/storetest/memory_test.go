package storetest_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A fault is something that a store does wrong.
type fault string

const (
	correct      fault = ""
	forks        fault = "compares heads with those that its own handle remembers"
	dropsLast    fault = "drops the 128th receipt of a run"
	reorders     fault = "stores the receipts of a run in the opposite order"
	losesAnswers fault = "stores a run, and reports that it did not"
	noPrefix     fault = "numbers runs when they begin, and shows them when they end"
	ignores      fault = "ignores the context"
	halves       fault = "stores the runs of an append one by one"

	ignoresKeySees fault = "finds receipts that may not be seen"
	ignoresTask    fault = "lists receipts of other tasks"
	ignoresSession fault = "lists receipts of other sessions"
	ignoresStream  fault = "lists receipts of other streams"
	ignoresFrom    fault = "lists earlier receipts"
	ignoresBefore  fault = "lists later receipts"
	ignoresUntil   fault = "lists what was stored after a late receipt"
	ignoresSees    fault = "lists receipts that may not be seen"
	ignoresLimit   fault = "lists more receipts than the limit"

	findsItself  fault = "finds a receipt as its own rival"
	sharesMemory fault = "returns rows that share memory with later rows"
	roundsTimes  fault = "stores times in seconds"
	locksWalk    fault = "locks its receipts while it lists them"
	dropsStream  fault = "does not list the last stream"
	miscounts    fault = "does not count the receipts of streams"
	overwrites   fault = "replaces receipts that have changed"
	keepsBytes   fault = "reports that it replaced a receipt, and did not"
)

// A memory store is a handle to a minimal store.
type memory struct {
	*shared
	fault fault

	mu   sync.Mutex
	seen map[chain.Stream]chain.Head // the handle's own heads, which a faulty store that creates forks uses
}

// A shared value contains the data that all handles to a store share.
type shared struct {
	mu      sync.Mutex
	turn    map[chain.Stream]*sync.Mutex // allows only one append at a time in each stream
	heads   map[chain.Stream]chain.Head
	buffer  []byte       // the JSON of the last row that was returned, if rows share memory
	list    []ledger.Row // rows in the order of their numbers
	numbers int64
}

func newMemory(f fault) (handle func() ledger.Store) {
	s := &shared{turn: map[chain.Stream]*sync.Mutex{}, heads: map[chain.Stream]chain.Head{}}
	return func() ledger.Store {
		return &memory{shared: s, fault: f, seen: map[chain.Stream]chain.Head{}}
	}
}

// ended returns the context's error if the context has ended.
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

func (m *memory) Find(ctx context.Context, k ledger.Key) (*ledger.Row, error) {
	if err := m.ended(ctx); err != nil {
		return nil, err
	}
	m.shared.mu.Lock()
	defer m.shared.mu.Unlock()
	for _, r := range m.list {
		if m.fault == findsItself && r.Sequence == k.Rival {
			return &r, nil
		}
		if k.ID != "" && r.ID == k.ID || k.ID == "" && r.Hash == k.Hash || k.Position > 0 && r.Stream == k.Stream && r.Position == k.Position {
			if k.Sees != nil && m.fault != ignoresKeySees && !k.Sees(r.Stream) {
				break
			}
			return m.returned(&r), nil
		}
	}
	return nil, ledger.ErrNotFound
}

// returned returns a row in the way in which a store with the given fault returns it.
func (m *memory) returned(r *ledger.Row) *ledger.Row {
	switch m.fault {
	case sharesMemory:
		if m.buffer == nil {
			m.buffer = make([]byte, 0, 64<<10)
		}
		if len(r.JSON) < cap(m.buffer) {
			m.buffer = append(m.buffer[:0], r.JSON...)
			r.JSON = m.buffer
		}
	case roundsTimes:
		r.IssuedAt -= r.IssuedAt % 1000
	}
	return r
}

func (m *memory) Streams(ctx context.Context) (list []ledger.StreamHead, err error) {
	m.shared.mu.Lock()
	defer m.shared.mu.Unlock()
	for s, head := range m.heads {
		list = append(list, ledger.StreamHead{Stream: s, Head: head, Last: head.Count})
	}
	slices.SortFunc(list, func(a, b ledger.StreamHead) int { return a.Stream.Compare(b.Stream) })

	switch {
	case m.fault == dropsStream && len(list) > 0:
		list = list[:len(list)-1]
	case m.fault == miscounts:
		for i := range list {
			list[i].Last = 0
		}
	}
	return list, m.ended(ctx)
}

func (m *memory) Replace(ctx context.Context, was, is *receipt.Sealed) (replaced bool, err error) {
	if err := m.ended(ctx); err != nil {
		return false, fmt.Errorf("%w: %w", ledger.ErrNotStored, err)
	}
	m.shared.mu.Lock()
	defer m.shared.mu.Unlock()
	for i := range m.list {
		if r := &m.list[i]; r.ID == was.ID() && (m.fault == overwrites || bytes.Equal(r.JSON, was.JSON())) {
			if m.fault != keepsBytes {
				r.JSON = is.JSON()
			}
			return true, nil
		}
	}
	return false, nil
}

func (m *memory) Walk(ctx context.Context, q ledger.Query, after int64) iter.Seq2[ledger.Row, error] {
	switch m.fault {
	case ignoresTask:
		q.Task = ""
	case ignoresSession:
		q.Session = ""
	case ignoresStream:
		q.Stream = nil
	case ignoresFrom:
		q.From = time.Time{}
	case ignoresBefore:
		q.Before = time.Time{}
	case ignoresUntil:
		q.Until = time.Time{}
	case ignoresSees:
		q.Sees = nil
	case ignoresLimit:
		q.Limit = 0
	}
	return func(yield func(ledger.Row, error) bool) {
		if err := m.ended(ctx); err != nil {
			yield(ledger.Row{}, err)
			return
		}

		m.shared.mu.Lock()
		list := slices.Clone(m.list)
		if m.fault == locksWalk {
			defer m.shared.mu.Unlock()
		} else {
			m.shared.mu.Unlock()
		}
		found := 0
		for _, r := range list {
			switch {
			case !q.Until.IsZero() && r.IssuedAt >= q.Until.UnixMilli():
				return
			case r.Sequence <= after || !q.Selects(&r):
				continue
			}
			if found++; !yield(*m.returned(&r), nil) || found == q.Limit {
				return
			}
		}
	}
}

func (m *memory) Append(ctx context.Context, runs ...ledger.Run) error {
	if m.fault == halves && len(runs) > 1 {
		for _, run := range runs {
			if err := m.Append(ctx, run); err != nil {
				return err
			}
		}
		return nil
	}
	if err := m.ended(ctx); err != nil {
		return fmt.Errorf("%w: %w", ledger.ErrNotStored, err)
	}
	rows, err := ledger.RowsOf(runs...)
	if err != nil {
		return err
	}
	defer m.lock(runs)()

	m.shared.mu.Lock()
	defer m.shared.mu.Unlock()
	heads, err := m.check(runs, rows)
	if err != nil {
		return err
	}

	list := m.number(rows)
	if m.fault == noPrefix {
		// Other receipts are numbered and become visible while a long run is written.
		m.shared.mu.Unlock()
		time.Sleep(time.Duration(len(list)) * 500 * time.Microsecond)
		m.shared.mu.Lock()
	}
	m.list = append(m.list, list...)
	slices.SortStableFunc(m.list, func(a, b ledger.Row) int { return cmp.Compare(a.Sequence, b.Sequence) })
	maps.Copy(m.heads, heads)
	maps.Copy(m.seen, heads)

	if m.fault == losesAnswers {
		time.Sleep(100 * time.Microsecond)
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("%w: %w", ledger.ErrNotStored, err)
		}
	}
	return nil
}

// lock waits until the caller may append to the streams of the runs.
func (m *memory) lock(runs []ledger.Run) (unlock func()) {
	if m.fault == forks {
		m.mu.Lock()
		return m.mu.Unlock
	}
	var streams []chain.Stream
	for _, run := range runs {
		streams = append(streams, run.Stream)
	}
	slices.SortFunc(streams, chain.Stream.Compare) // all callers use the same order, so there is no deadlock

	var turns []*sync.Mutex
	m.shared.mu.Lock()
	for _, s := range slices.Compact(streams) {
		if m.turn[s] == nil {
			m.turn[s] = new(sync.Mutex)
		}
		turns = append(turns, m.turn[s])
	}
	m.shared.mu.Unlock()
	for _, turn := range turns {
		turn.Lock()
	}
	return func() {
		for _, turn := range turns {
			turn.Unlock()
		}
	}
}

// check returns the heads that the streams will have after the runs have been appended.
func (m *memory) check(runs []ledger.Run, rows [][]ledger.Row) (map[chain.Stream]chain.Head, error) {
	heads := map[chain.Stream]chain.Head{}
	for i, run := range runs {
		for _, r := range rows[i] {
			if slices.ContainsFunc(m.list, func(stored ledger.Row) bool { return stored.ID == r.ID }) {
				return nil, ledger.ErrDuplicateID
			}
		}

		head, known := heads[run.Stream]
		switch {
		case known:
		case m.fault == forks:
			head = m.seen[run.Stream]
		default:
			head = m.heads[run.Stream]
		}
		if head.Hash != run.Previous.Hash {
			return nil, ledger.ErrHeadMoved
		}
		for _, r := range rows[i] {
			head = chain.Head{Hash: r.Hash, Count: head.Count + 1}
		}
		heads[run.Stream] = head
	}
	return heads, nil
}

// number assigns positions to rows in the order of the store.
func (m *memory) number(rows [][]ledger.Row) (list []ledger.Row) {
	for _, run := range rows {
		before := uint64(0) // number of receipts in the stream
		for _, r := range slices.Concat(m.list, list) {
			if len(run) > 0 && r.Stream == run[0].Stream {
				before++
			}
		}
		for i, r := range run {
			if m.fault == dropsLast && i == 127 {
				continue
			}
			m.numbers++
			r.Sequence, r.Position = m.numbers, before+uint64(i)+1
			list = append(list, r)
		}
	}
	if m.fault == reorders {
		for i := range len(list) / 2 {
			j := len(list) - 1 - i
			list[i].Sequence, list[j].Sequence = list[j].Sequence, list[i].Sequence
		}
	}
	return list
}
