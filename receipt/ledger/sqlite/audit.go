package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// Audit is described at [ledger.Auditor].
func (l *Ledger) Audit(ctx context.Context) (ledger.Audit, error) {
	db, err := l.pool(1, l.query) // it takes long, and others may read meanwhile
	if err != nil {
		return nil, err
	}
	return &audit{ledger: l, db: db, ctx: ctx, ids: map[chain.Stream]int64{}}, nil
}

type audit struct {
	ledger *Ledger
	db     *sql.DB
	ctx    context.Context
	ids    map[chain.Stream]int64 // of the rows of streams
	get    *sql.Stmt              // a row by its place; nil: not yet prepared
}

// Close ends the audit.
func (a *audit) Close() error {
	if a.get != nil {
		a.get.Close()
	}
	return a.db.Close()
}

// damaged returns the error of data that cannot be read, which is damaged, and errors that are
// unrelated to the file.
func (a *audit) damaged(err error) error { return a.unreadable(ledger.FaultFile, "", err) }

func (a *audit) unreadable(fault, id string, err error) error {
	if err == nil || a.ctx.Err() != nil {
		return err
	}

	// An extended result code of SQLite has the primary one in its low byte.
	switch code(err) & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT:
		return err
	}
	return &ledger.DamageError{Code: fault, ID: id, Detail: err.Error()}
}

// Self runs SQLite's checks of its own structures, and compares the ledger with the mark next to it.
func (a *audit) Self(tell func(ledger.Fault)) (marked bool, err error) {
	for _, pragma := range []string{"integrity_check(100)", "foreign_key_check"} {
		err := a.damaged(a.pragma(pragma, tell))
		if damage, ok := errors.AsType[*ledger.DamageError](err); ok {
			tell(ledger.Fault{Code: damage.Code, Detail: damage.Detail}) // the other checks follow
		} else if err != nil {
			return false, err
		}
	}
	return a.mark(tell)
}

func (a *audit) pragma(name string, tell func(ledger.Fault)) error {
	rows, err := a.db.QueryContext(a.ctx, "PRAGMA "+name)
	if err != nil {
		return err
	}
	defer rows.Close()

	columns, err := rows.Columns()
	if err != nil {
		return err
	}

	// integrity_check returns one text per row, and foreign_key_check a table, a row, and a parent.
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}

		if err := rows.Scan(values...); err != nil {
			return err
		}
		text := fmt.Sprint(*values[0].(*any))
		switch {
		case len(columns) > 1:
			text = fmt.Sprintf("row %v of %s belongs to no row of %v", *values[1].(*any), text, *values[2].(*any))
		case text == "ok":
			continue
		}
		tell(ledger.Fault{Code: ledger.FaultFile, Detail: text})
	}

	return rows.Err()
}

// mark compares the ledger with the mark next to it, which can show that the end was cut off.
func (a *audit) mark(tell func(ledger.Fault)) (marked bool, err error) {
	if !a.ledger.has(marks) {
		return false, nil
	}
	m, ok := readMark(a.ledger.files.path)
	if !ok {
		return false, nil
	}

	is, _, err := markOf(a.ctx, a.db)
	if err == nil {
		err = m.reached(a.ctx, a.db, a.ledger.path, is)
	}
	if back, ok := errors.AsType[*RolledBackError](err); ok {
		tell(ledger.Fault{Code: string(receipt.CodeHeadMismatch), Detail: "the ledger " + back.Detail})
		return true, nil
	}

	return true, a.damaged(err)
}

// Prunings is described at [ledger.Audit].
func (a *audit) Prunings() ([]ledger.Pruning, error) {
	list, err := a.ledger.prunings(a.ctx, a.db)
	return list, a.damaged(err)
}

// Hashes is described at [ledger.Audit].
func (a *audit) Hashes(last int64) iter.Seq2[ledger.KeptHash, error] {
	return func(yield func(ledger.KeptHash, error) bool) {
		for kept, err := range hashes(a.ctx, a.db, last) {
			if !yield(kept, a.damaged(err)) {
				return
			}
		}
	}
}

// Streams is described at [ledger.Audit].
func (a *audit) Streams() (list []ledger.StreamHead, err error) {
	rows, err := streamRows(a.ctx, a.db)
	if err != nil {
		return nil, a.damaged(err)
	}
	for _, s := range rows {
		list = append(list, s.StreamHead)
		a.ids[s.Stream] = s.id
	}
	return list, nil
}

// Last is described at [ledger.Audit].
func (a *audit) Last(s chain.Stream) (position uint64, err error) {
	err = a.db.QueryRowContext(a.ctx, "SELECT ifnull(max(position), 0) FROM receipts WHERE stream = ?", a.ids[s]).Scan(&position)
	return position, a.damaged(err)
}

// Row is described at [ledger.Audit].
func (a *audit) Row(s chain.Stream, position uint64) (*ledger.Row, error) {
	if a.get == nil {
		// A ledger that was opened read-only may be older than the column.
		subject := "subject"
		if !a.ledger.has(subjects) {
			subject = "NULL"
		}

		var err error
		if a.get, err = a.db.PrepareContext(a.ctx, "SELECT seq, receipt_id, task, "+subject+", session, issued_at, hash, previous, json FROM receipts WHERE stream = ? AND position = ?"); err != nil {
			return nil, a.damaged(err)
		}
	}

	var r stored
	var hash, previous []byte
	err := a.get.QueryRowContext(a.ctx, a.ids[s], position).Scan(&r.sequence, &r.id, &r.task, &r.subject, &r.session, &r.issuedAt, &hash, &previous, &r.json)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ledger.ErrNotFound
	}
	if err != nil {
		return nil, a.unreadable(ledger.FaultUnreadable, a.idAt(a.ids[s], position), err)
	}

	r.link = chain.Link{First: previous == nil}
	copy(r.link.Hash[:], hash)
	copy(r.link.Previous[:], previous)
	r.stream = s
	return &ledger.Row{Sequence: r.sequence, ID: r.id, Link: r.link, JSON: r.json, Differences: func() ([]string, error) { return a.differences(&r.row) }}, nil
}

func (a *audit) differences(r *row) ([]string, error) {
	var own row
	if err := own.read(r.json); err != nil {
		return nil, err
	}
	if !a.ledger.has(subjects) {
		own.subject = sql.NullString{}
	}
	return r.differences(&own), nil
}

// idAt reads a receipt_id only from the indexes, for a row that cannot be read.
func (a *audit) idAt(stream int64, position uint64) (id string) {
	a.db.QueryRowContext(a.ctx, "SELECT receipt_id FROM receipts INDEXED BY sqlite_autoindex_receipts_1 WHERE +seq = (SELECT seq FROM receipts INDEXED BY receipts_place WHERE stream = ? AND position = ?)", stream, position).Scan(&id)
	return id
}

// Strays is described at [ledger.Audit].
func (a *audit) Strays(tell func(ledger.Fault)) error {
	rows, err := a.db.QueryContext(a.ctx, "SELECT r.receipt_id, r.position FROM receipts r LEFT JOIN streams s ON s.id = r.stream WHERE s.id IS NULL OR r.position > s.count ORDER BY r.seq")
	if err != nil {
		return a.damaged(err)
	}
	defer rows.Close()

	for rows.Next() {
		f := ledger.Fault{Code: ledger.FaultRow, Detail: "row is after the end of every stream"}
		if err := rows.Scan(&f.ID, &f.Position); err != nil {
			return a.damaged(err)
		}
		tell(f)
	}
	return a.damaged(rows.Err())
}
