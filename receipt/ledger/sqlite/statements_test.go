package sqlite_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

// TestStatements verifies that a connection can run a prepared statement again: while its rows are
// being read, after it has failed, and after the tables have been changed.
func TestStatements(t *testing.T) {
	ctx, path := t.Context(), filled(t, 3)
	l, err := sqlite.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()

	tx, err := l.Writing().BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	const texts = "SELECT receipt_id FROM receipts WHERE seq > ? ORDER BY seq"
	seen := func() (text string) {
		outer := query(t, tx, texts, 2)
		defer outer.Close()
		for outer.Next() {
			var id string
			if err := outer.Scan(&id); err != nil {
				t.Fatal(err)
			}
			text += id + ":"
			inner := query(t, tx, texts, 4)
			for inner.Next() {
				if err := inner.Scan(&id); err != nil {
					t.Fatal(err)
				}
				text += " " + id
			}
			if inner.Close(); inner.Err() != nil {
				t.Fatal(inner.Err())
			}
			text += "; "
		}
		if outer.Err() != nil {
			t.Fatal(outer.Err())
		}
		return text
	}
	first := seen()
	if want := "a_1: a_2 b_2; b_1: a_2 b_2; a_2: a_2 b_2; b_2: a_2 b_2; "; first != want {
		t.Errorf("%q, want %q", first, want)
	}

	const twice = "INSERT INTO streams (id, issuer, workspace, head, count) VALUES (?, 'i', 'w', zeroblob(32), 1)"
	for n, want := range []bool{true, false, false} {
		if _, err := tx.ExecContext(ctx, twice, 100); (err == nil) != want {
			t.Errorf("insertion %d: %v", n, err)
		}
	}
	for n := range 100 { // more statements than the cache can contain
		query(t, tx, fmt.Sprintf("SELECT %d FROM streams WHERE id = ?", n), 100).Close()
	}
	if again := seen(); again != first {
		t.Errorf("again: %q, before %q", again, first)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}

	execute(t, path, "ALTER TABLE receipts ADD COLUMN note TEXT; DROP INDEX receipts_task; CREATE INDEX receipts_task ON receipts (task, note)")
	issuer := &ledger.Issuer{Store: l, Signer: signer(t), KeepSecrets: true}
	if _, err := issuer.Issue(ctx, draft("receipt_9", "a")); err != nil {
		t.Error(err)
	}
	if c, list := faults(t, path, verifier(t, receipt.Policy{})); len(list) > 0 || c.Verified != 7 {
		t.Errorf("%+v, %q", c, list)
	}
}

func query(t *testing.T, tx *sql.Tx, text string, args ...any) *sql.Rows {
	t.Helper()
	rows, err := tx.QueryContext(t.Context(), text, args...)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
