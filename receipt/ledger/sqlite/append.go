package sqlite

import (
	"context"
	"database/sql"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite/internal/file"
)

// A writer appends receipts to streams and changes stored receipts.
type writer struct{ *database }

type turnKey struct{}

// turnOf returns the turn for a stream from a context, or nil if the context contains none.
func (l *writer) turnOf(ctx context.Context, s chain.Stream) *file.Turn {
	t, _ := ctx.Value(turnKey{}).(*file.Turn)
	if !t.Of(l.queues, s) {
		return nil
	}
	return t
}

// Turn implements [ledger.TurnStore].
func (l *writer) Turn(ctx context.Context, s chain.Stream, again bool) (of context.Context, done func()) {
	if l.write == nil {
		return ctx, func() {}
	}
	t := l.queues.Turn(s, again)
	return context.WithValue(ctx, turnKey{}, t), t.End
}

// Head implements [ledger.Store].
func (l *writer) Head(ctx context.Context, s chain.Stream) (chain.Head, error) {
	if t := l.turnOf(ctx, s); t != nil {
		if head, ok := t.Announced(); ok {
			return head, nil
		}
		t.Clear()
	}

	// If there is no usable announcement, the stored head is read.
	q := l.own // issuers do not wait for readers
	if q == nil {
		done, err := l.reading(ctx)
		if err != nil {
			return chain.Head{}, err
		}
		defer done()
		q = l.read
	}

	head, err := l.head(ctx, q, s)
	return head, l.wrap(ctx, "read the head of a stream", err)
}

// Append implements [ledger.Store].
func (l *writer) Append(ctx context.Context, runs ...ledger.Run) error {
	rows, err := ledger.RowsOf(runs...)
	if err != nil {
		return err
	}

	// The next issuer may link to this head while it is still being stored.
	var t *file.Turn
	if len(runs) == 1 {
		t = l.turnOf(ctx, runs[0].Stream)
	}
	if n := len(rows); t != nil && n == 1 && len(rows[0]) > 0 {
		last := len(rows[0])
		t.Announce(chain.Head{Hash: rows[0][last-1].Hash, Count: runs[0].Previous.Count + uint64(last)})
	}

	err = l.store(ctx, "store receipts", t, func(tx *sql.Tx) error {
		for i, run := range runs {
			if err := appendRows(ctx, tx, run, rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Withdraw()
	}
	return err
}

func appendRows(ctx context.Context, tx *sql.Tx, run ledger.Run, rows []ledger.Row) error {
	taken, err := tx.PrepareContext(ctx, "SELECT count(*) FROM receipts WHERE receipt_id = ?")
	if err != nil {
		return err
	}
	defer taken.Close()

	// A duplicate ID takes precedence over a head that has moved, so that a repeated draft finds
	// its receipt.
	for i := range rows {
		var n int
		if err := taken.QueryRowContext(ctx, rows[i].ID).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return ledger.ErrDuplicateID
		}
	}

	// This is the compare-and-swap step, during which the transaction holds the write lock.
	s, last, err := headRow(ctx, tx, run.Stream)
	if err != nil {
		return err
	}
	if s.Head.Hash != run.Previous.Hash {
		return ledger.ErrHeadMoved
	}
	if s.id != 0 {
		if err := s.Check(last); err != nil {
			return err
		}
	}
	return extend(ctx, tx, run.Stream, s.id, s.Head, rows)
}

// extend adds rows after the head of a stream, in a transaction that holds the write lock.
func extend(ctx context.Context, tx *sql.Tx, s chain.Stream, id int64, at chain.Head, rows []ledger.Row) error {
	if len(rows) == 0 {
		return nil
	}

	// The head and the receipts become visible together, when the transaction is committed.
	last, count := rows[len(rows)-1].Hash, at.Count+uint64(len(rows))
	var err error
	if id == 0 {
		tenant := sql.NullString{String: s.Tenant, Valid: s.HasTenant}
		err = tx.QueryRowContext(ctx, "INSERT INTO streams (issuer, tenant, workspace, head, count) VALUES (?, ?, ?, ?, ?) RETURNING id", s.Issuer, tenant, s.Workspace, last[:], count).Scan(&id)
	} else {
		_, err = tx.ExecContext(ctx, "UPDATE streams SET head = ?, count = ? WHERE id = ?", last[:], count, id)
	}
	if err != nil {
		return err
	}

	insert, err := tx.PrepareContext(ctx, "INSERT INTO receipts (stream, position, receipt_id, task, subject, session, issued_at, hash, previous, json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()

	for i, r := range rows {
		var previous []byte
		if !r.First {
			previous = r.Previous[:]
		}
		if _, err := insert.ExecContext(ctx, id, at.Count+1+uint64(i), r.ID, null(r.Task), null(r.Subject), null(r.Session), r.IssuedAt, r.Hash[:], previous, r.JSON); err != nil {
			return err
		}
	}

	return nil
}

// Cut implements [ledger.Pruner]. The size of the file does not change. The old bytes remain in the
// file until new receipts overwrite them.
func (l *writer) Cut(ctx context.Context, c *ledger.Cut) error {
	return l.store(ctx, "prune", nil, func(tx *sql.Tx) error {
		var after, receipts, bytes int64
		err := tx.QueryRowContext(ctx, "SELECT "+l.prunedTo()+", count(*), ifnull(sum(length(json)), 0) FROM receipts WHERE seq > ? AND seq <= ?", c.After, c.Last).Scan(&after, &receipts, &bytes)
		if err != nil {
			return err
		}
		if err := c.Compare(after, receipts, bytes, sequence(ctx, tx, c.Last)); err != nil {
			return err
		}

		if _, err := tx.ExecContext(ctx, "UPDATE receipts SET json = x'' WHERE seq > ? AND seq <= ?", c.After, c.Last); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO prunings (size, after, last, root, checkpoint, archive, digest) VALUES (?, ?, ?, ?, ?, ?, ?)",
			c.Size, c.After, c.Last, c.Root[:], c.Checkpoint, c.Archive, c.Digest[:])
		return err
	})
}
