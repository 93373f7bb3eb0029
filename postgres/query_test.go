package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/postgres"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// holdLocks holds locks on all tables of a ledger until release is closed.
func holdLocks(t *testing.T, address string, locked chan<- struct{}, release <-chan struct{}) {
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Error(err)
		close(locked)
		return
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "BEGIN; LOCK TABLE ledger, ledger_streams, ledger_receipts IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Error(err)
	}
	close(locked)
	<-release
}

// waiting returns the number of statements that wait for a lock.
func waiting(t *testing.T, address string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// wantOneChain expects n receipts in the streams w0 and w1. Each stream must be a single chain, and
// all acknowledged receipts must be present.
func wantOneChain(t *testing.T, l *postgres.Ledger, acknowledged map[string]string, n int) {
	t.Helper()
	total := 0
	for _, workspace := range []string{"w0", "w1"} {
		head, err := l.Head(t.Context(), chain.Stream{Issuer: "harness_storetest", Workspace: workspace})
		if err != nil {
			t.Fatal(err)
		}
		total += int(head.Count)
	}
	if total != n {
		t.Errorf("the streams have %d receipts, expected %d", total, n)
	}

	next := map[canon.Digest]string{}
	for id, hash := range acknowledged {
		r, err := ledger.Get(t.Context(), l, id)
		if err != nil || r.Hash().String() != hash {
			t.Errorf("%s was acknowledged with the hash %s, and is %v, %v", id, hash, r, err)
			continue
		}
		link, _ := chain.LinkOf(r.Document())
		if other := next[link.Previous]; !link.First && other != "" {
			t.Errorf("%s and %s follow the same receipt", id, other)
		}
		next[link.Previous] = id
	}
}
