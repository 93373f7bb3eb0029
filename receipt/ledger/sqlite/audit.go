package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite/internal/file"
)

// An auditor checks the structures of a ledger file.
type auditor struct{ *database }

// Audit implements [ledger.Auditor]. Audit runs SQLite's own checks, and compares the end of the
// ledger with FILE-head.
func (l *auditor) Audit(ctx context.Context, report func(ledger.Fault)) (marked bool, err error) {
	db, err := l.pool(1, l.query) // this check is slow, so it uses a separate connection and does not block other readers
	if err != nil {
		return false, err
	}
	defer db.Close()

	// If a check fails because the file is damaged, the other checks are still made.
	for _, check := range []func() error{
		func() error { return pragma(ctx, db, "integrity_check(100)", report) },
		func() error { return pragma(ctx, db, "foreign_key_check", report) },
		func() (err error) { marked, err = l.mark(ctx, db, report); return err },
		func() error { return strays(ctx, db, report) },
	} {
		if err := check(); damages(ctx, err) {
			report(ledger.Fault{Code: ledger.FaultFile, Detail: err.Error()})
		} else if err != nil {
			return marked, err
		}
	}
	return marked, nil
}

// damages reports whether an error means that data in the file cannot be read, as opposed to an
// error that has nothing to do with the file.
func damages(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}

	// The low byte of an extended SQLite result code is the primary result code.
	switch code(err) & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT:
		return false
	}
	return true
}

// pragma runs one of SQLite's own checks. Each result row of integrity_check is a string, and each
// result row of foreign_key_check contains a table, a row, and a parent.
func pragma(ctx context.Context, db *sql.DB, name string, report func(ledger.Fault)) error {
	rows, err := db.QueryContext(ctx, "PRAGMA "+name)
	if err != nil {
		return err
	}
	defer rows.Close()

	columns, err := rows.Columns()
	if err != nil {
		return err
	}
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
		report(ledger.Fault{Code: ledger.FaultFile, Detail: text})
	}
	return rows.Err()
}

// mark compares the ledger with FILE-head, which can show that the end of the ledger was cut off.
func (l *auditor) mark(ctx context.Context, db *sql.DB, report func(ledger.Fault)) (marked bool, err error) {
	if !l.has(marks) {
		return false, nil
	}
	m, ok := file.ReadMark(l.files.Path)
	if !ok {
		return false, nil
	}

	is, _, err := markOf(ctx, db)
	if err == nil {
		err = m.Reached(l.path, is, hashAt(ctx, db))
	}
	if back, ok := errors.AsType[*RolledBackError](err); ok {
		report(ledger.Fault{Code: string(receipt.CodeHeadMismatch), Detail: "the ledger " + back.Detail})
		return true, nil
	}
	return true, err
}

// strays reports rows that belong to no stream, and rows after the head of their stream.
func strays(ctx context.Context, db *sql.DB, report func(ledger.Fault)) error {
	list, err := collect(ctx, db, func(scan scanner) (f ledger.Fault, err error) {
		f.Code, f.Detail = ledger.FaultRow, "row is after the end of every stream"
		err = scan(&f.ID, &f.Position)
		return f, err
	}, "SELECT r.receipt_id, r.position FROM receipts r LEFT JOIN streams s ON s.id = r.stream WHERE s.id IS NULL OR r.position > s.count ORDER BY r.seq")
	for _, f := range list {
		report(f)
	}
	return err
}
