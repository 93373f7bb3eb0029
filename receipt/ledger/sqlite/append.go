package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A writer appends receipts to streams.
type writer struct{ *database }

// Head is described at [ledger.Store].
func (l *writer) Head(ctx context.Context, s chain.Stream) (chain.Head, error) {
	if t := turnOf(ctx, l.database, s); t != nil {
		if head, ok := t.announced(); ok {
			return head, nil
		}
		t.clear()
	}

	// Without a usable announcement, the stored head is read.
	q := l.own // an issuer does not wait for readers
	if q == nil {
		done, err := l.reading(ctx)
		if err != nil {
			return chain.Head{}, err
		}
		defer done()
		q = l.read
	}

	_, head, err := l.head(ctx, q, s)
	return head, l.wrap("read the head of a stream", err)
}

// Turn is described at [ledger.TurnStore].
func (l *writer) Turn(ctx context.Context, s chain.Stream, again bool) (of context.Context, done func()) {
	if l.write == nil {
		return ctx, func() {}
	}

	sum := nameOf(s)
	t := &turn{ledger: l.database, stream: s, lane: 1 + int(sum[0])%(lanes-1), again: again}
	t.ticket = l.queues.draw(l.files.path, t.lane)
	l.queues.wait(t.ticket, t.lane)
	return context.WithValue(ctx, turnKey{}, t), t.end
}

// headRow returns a stream's row and head without comparing it with the last receipt.
func headRow(ctx context.Context, q querier, s chain.Stream) (id int64, h chain.Head, err error) {
	var hash []byte
	err = q.QueryRowContext(ctx, "SELECT id, head, count FROM streams WHERE issuer = ? AND (tenant IS NULL) = ? AND ifnull(tenant, '') = ? AND workspace = ?",
		s.Issuer, !s.HasTenant, s.Tenant, s.Workspace).Scan(&id, &hash, &h.Count)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, chain.Head{}, nil
	}
	if err != nil {
		return 0, chain.Head{}, err
	}
	copy(h.Hash[:], hash)
	return id, h, nil
}

// Append is described at [ledger.Store].
func (l *writer) Append(ctx context.Context, s chain.Stream, previous chain.Head, run ...*receipt.Sealed) error {
	rows, err := rowsOf(run)
	if err != nil {
		return err
	}

	// The next issuer may link to this head while it is being written.
	t := turnOf(ctx, l.database, s)
	if t != nil && len(rows) > 0 {
		t.announce(chain.Head{Hash: rows[len(rows)-1].link.Hash, Count: previous.Count + uint64(len(rows))})
	}

	err = l.store(ctx, "store receipts", t, func(tx *sql.Tx) error {
		return appendRows(ctx, tx, s, previous, rows)
	})
	if err != nil {
		t.withdraw()
	}

	return err
}

// AppendRuns is described at [ledger.BatchStore].
func (l *writer) AppendRuns(ctx context.Context, runs []ledger.Run) error {
	rows := make([][]row, len(runs))
	for i, r := range runs {
		var err error
		if rows[i], err = rowsOf(r.Receipts); err != nil {
			return err
		}
	}

	return l.store(ctx, "store receipts", nil, func(tx *sql.Tx) error {
		for i, r := range runs {
			if err := appendRows(ctx, tx, r.Stream, r.Previous, rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func rowsOf(run []*receipt.Sealed) ([]row, error) {
	rows := make([]row, len(run))
	for i, r := range run {
		if err := rows[i].of(r.Document(), r.JSON()); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func appendRows(ctx context.Context, tx *sql.Tx, s chain.Stream, previous chain.Head, rows []row) error {
	taken, err := tx.PrepareContext(ctx, "SELECT count(*) FROM receipts WHERE receipt_id = ?")
	if err != nil {
		return err
	}
	defer taken.Close()

	// A taken ID is reported before a moved head, so that a repeated draft finds its receipt.
	ids := map[string]bool{}
	for i := range rows {
		if ids[rows[i].id] {
			return ledger.ErrDuplicateID
		}
		ids[rows[i].id] = true

		var n int
		if err := taken.QueryRowContext(ctx, rows[i].id).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return ledger.ErrDuplicateID
		}
	}

	// Compare and swap: the transaction holds the write lock.
	id, at, err := headRow(ctx, tx, s)
	if err != nil {
		return err
	}
	if at.Hash != previous.Hash {
		return ledger.ErrHeadMoved
	}

	// The row of a stream is not trusted without the receipt that it names.
	if id != 0 {
		var last []byte // Head compared this row, or its writer announced it
		err := tx.QueryRowContext(ctx, "SELECT hash FROM receipts WHERE stream = ? AND position = ?", id, at.Count).Scan(&last)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if !bytes.Equal(last, at.Hash[:]) {
			return damageOf(string(receipt.CodeHeadMismatch), "", s, fmt.Sprintf("number %d of a stream is not its head, which is said to be %v", at.Count, at.Hash))
		}
	}

	return extend(ctx, tx, s, id, at, rows)
}

// extend adds rows after the head of a stream, in a transaction that holds the write lock.
func extend(ctx context.Context, tx *sql.Tx, s chain.Stream, id int64, at chain.Head, rows []row) error {
	last := at.Hash
	for i := range rows {
		if rows[i].stream != s || !follows(rows[i].link, last) {
			return notNext(rows[i].id)
		}
		last = rows[i].link.Hash
	}

	// The head and the receipts take effect together, at the end of the transaction.
	count := at.Count + uint64(len(rows))
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
		if !r.link.First {
			previous = r.link.Previous[:]
		}
		if _, err := insert.ExecContext(ctx, id, at.Count+1+uint64(i), r.id, r.task, r.subject, r.session, r.issuedAt, r.link.Hash[:], previous, r.json); err != nil {
			return err
		}
	}

	return nil
}

// follows reports whether a receipt names a hash as that of its predecessor. The zero hash precedes
// the first receipt.
func follows(l chain.Link, previous canon.Digest) bool {
	if previous == (canon.Digest{}) {
		return l.First
	}
	return !l.First && l.Previous == previous
}

func notNext(id string) error {
	return fmt.Errorf("ledger: receipt %.200q does not follow the previous receipt of its stream", id)
}
