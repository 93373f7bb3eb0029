package storetest_test

import (
	"context"
	"maps"
	"path/filepath"
	"sync"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
)

func TestSQLite(t *testing.T) {
	paths := map[ledger.Store]string{}
	keep := func(t *testing.T, l *ledger.SQLite, path string, err error) ledger.Store {
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		paths[l] = path
		return l
	}
	storetest.Run(t, func(t *testing.T) ledger.Store {
		path := filepath.Join(t.TempDir(), "ledger.db")
		l, err := ledger.Create(context.Background(), path)
		return keep(t, l, path, err)
	}, func(t *testing.T, old ledger.Store) ledger.Store {
		if err := old.(*ledger.SQLite).Close(); err != nil {
			t.Fatal(err)
		}
		l, err := ledger.Open(context.Background(), paths[old])
		return keep(t, l, paths[old], err)
	})
}

// memory is a minimal store.
type memory struct {
	mu    sync.Mutex
	heads map[chain.Stream]chain.Head
	byID  map[string]*receipt.Sealed
}

func (m *memory) Head(_ context.Context, s chain.Stream) (chain.Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.heads[s], nil
}

func (m *memory) Get(_ context.Context, id string) (*receipt.Sealed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.byID[id]; r != nil {
		return r, nil
	}
	return nil, ledger.ErrNotFound
}

func (m *memory) Append(_ context.Context, s chain.Stream, previous chain.Head, run ...*receipt.Sealed) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	ids := map[string]*receipt.Sealed{}
	for _, r := range run {
		if m.byID[r.ID()] != nil || ids[r.ID()] != nil {
			return ledger.ErrDuplicateID
		}
		ids[r.ID()] = r
	}
	head := m.heads[s]
	if head.Hash != previous.Hash {
		return ledger.ErrHeadMoved
	}
	for _, r := range run {
		if err := ledger.Follows(s, head, r); err != nil {
			return err
		}
		head = chain.Head{Hash: r.Hash(), Count: head.Count + 1}
	}
	maps.Copy(m.byID, ids)
	m.heads[s] = head
	return nil
}

func TestMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) ledger.Store {
		return &memory{heads: map[chain.Stream]chain.Head{}, byID: map[string]*receipt.Sealed{}}
	}, nil)
}
