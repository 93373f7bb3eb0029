package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

type checker struct {
	cut    int64 // sequence of the last receipt that was pruned
	ledger *Ledger
	db     *sql.DB
	ledger.Checked
	ctx      context.Context
	verifier *receipt.Verifier
	tell     func(ledger.Fault)
	seen     func(int)
	doc      canon.Document
	report   receipt.Report
}

func (c *checker) fault(f ledger.Fault) {
	c.Faults++
	c.tell(f)
}

// file runs SQLite's checks of its own structures.
func (c *checker) file() error {
	for _, pragma := range []string{"integrity_check(100)", "foreign_key_check"} {
		if err := c.pragma(pragma); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) pragma(name string) error {
	rows, err := c.db.QueryContext(c.ctx, "PRAGMA "+name)
	if err != nil {
		return c.damaged(err)
	}
	defer rows.Close()

	columns, err := rows.Columns()
	if err != nil {
		return c.damaged(err)
	}

	// integrity_check returns one text per row, and foreign_key_check a table, a row, and a parent.
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}

		if err := rows.Scan(values...); err != nil {
			return c.damaged(err)
		}
		text := fmt.Sprint(*values[0].(*any))
		switch {
		case len(columns) > 1:
			text = fmt.Sprintf("row %v of %s belongs to no row of %v", *values[1].(*any), text, *values[2].(*any))
		case text == "ok":
			continue
		}
		c.fault(ledger.Fault{Code: ledger.FaultFile, Detail: text})
	}

	return c.damaged(rows.Err())
}

// damaged turns an error of reading into a fault, because what cannot be read is damaged. It
// returns errors that are unrelated to the file.
func (c *checker) damaged(err error) error {
	if err == nil || c.ctx.Err() != nil {
		return err
	}

	// An extended result code of SQLite has the primary one in its low byte.
	switch code(err) & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT:
		return err
	}
	c.fault(ledger.Fault{Code: ledger.FaultFile, Detail: err.Error()})
	return nil
}

// mark compares the ledger with the mark next to it.
func (c *checker) mark() error {
	if !c.ledger.has(marks) {
		return nil
	}
	m, ok := readMark(c.ledger.files.path)
	if !ok {
		return nil
	}

	// FILE-head is outside the ledger, so it can show that the end was cut off.
	c.Marked = true

	var back *RolledBackError
	is, _, err := markOf(c.ctx, c.db)
	if err == nil {
		err = m.reached(c.ctx, c.db, c.ledger.path, is)
	}
	if errors.As(err, &back) {
		c.fault(ledger.Fault{Code: string(receipt.CodeHeadMismatch), Detail: "the ledger " + back.Detail})
		return nil
	}

	return c.damaged(err)
}

// prunings compares the pruned receipts with their checkpoints.
func (c *checker) prunings() error {
	list, err := c.ledger.prunings(c.ctx, c.db)
	if err != nil || len(list) == 0 {
		return c.damaged(err)
	}
	c.cut = list[len(list)-1].Last

	for i := range list {
		opened := c.verifier.OpenCheckpoint(list[i].Checkpoint)
		switch {
		case opened.Readable && opened.Fault != "":
			c.fault(ledger.Fault{Code: string(receipt.CodeCheckpointInvalid), Detail: fmt.Sprintf("of the checkpoint over %d receipts that were pruned: %s", list[i].Size, opened.Fault)})
		case c.verifier.Scope() == receipt.ScopeFull && !opened.Signed:
			c.Unsigned++
		}
	}

	fault, err := proven(c.ctx, c.db, list)
	if fault != nil {
		c.fault(ledger.Fault{Code: fault.Code, Detail: fault.Detail})
	}
	return c.damaged(err)
}

// chains checks each chain from its beginning.
func (c *checker) chains() error {
	c.seen(0)
	streams, err := streamRows(c.ctx, c.db)
	if err != nil {
		return c.damaged(err)
	}
	for _, s := range streams {
		c.Streams = append(c.Streams, s.StreamHead)
		if err := c.chain(s); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) chain(s streamRow) error {
	var end uint64 // everything after it is missing, regardless of the count of the stream
	if err := c.db.QueryRowContext(c.ctx, "SELECT ifnull(max(position), 0) FROM receipts WHERE stream = ?", s.id).Scan(&end); err != nil {
		return c.damaged(err)
	}

	// A ledger that was opened read-only may be older than the column.
	subject := "subject"
	if !c.ledger.has(subjects) {
		subject = "NULL"
	}

	get, err := c.db.PrepareContext(c.ctx, "SELECT seq, receipt_id, task, "+subject+", session, issued_at, hash, previous, json FROM receipts WHERE stream = ? AND position = ?")
	if err != nil {
		return c.damaged(err)
	}
	defer get.Close()

	// After a missing or unreadable receipt, the link of the next one cannot be judged.
	var last stored // the previous receipt
	known := true   // whether last is the previous receipt
	for position := uint64(1); position <= s.Head.Count; position++ {
		if err := c.ctx.Err(); err != nil {
			return err
		}

		f := ledger.Fault{Stream: &s.Stream, Position: position}
		r, err := c.row(get, s, position)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			c.missing(f, end, s.Head.Count, known, last.link.Hash)
			known = false
			if position > end {
				return nil
			}
			continue
		case err != nil:
			f.Code, f.Detail, f.ID = ledger.FaultUnreadable, err.Error(), c.idAt(s.id, position)
			c.fault(f)
			known = false
			continue
		}

		f.ID = r.id
		if r.cut = c.cut; r.pruned() {
			c.Pruned++
			if damage := r.empty(); damage != nil {
				f.Code, f.Detail = damage.Code, damage.Detail
				c.fault(f)
			}
		} else {
			c.Receipts++
			c.judge(f, r)
		}
		c.seen(c.Receipts + c.Pruned)
		if known && !follows(r.link, last.link.Hash) {
			f.Code, f.Detail = string(receipt.CodeChainBreak), fmt.Sprintf("it names another predecessor than the receipt before it, which has the hash %v", last.link.Hash)
			c.fault(f)
		}
		if known && r.sequence <= last.sequence {
			f.Code, f.Detail = ledger.FaultRow, "its row was stored before the receipt that it follows"
			c.fault(f)
		}
		last, known = r, true
	}

	// A head can be compared only with a last receipt that was read.
	if known && last.link.Hash != s.Head.Hash {
		c.fault(ledger.Fault{Code: string(receipt.CodeHeadMismatch), Stream: &s.Stream, Position: s.Head.Count,
			Detail: fmt.Sprintf("the ledger says that the head is %v, its last receipt has %v", s.Head.Hash, last.link.Hash)})
	}

	return nil
}

// missing reports a missing receipt, or all after the last existing one.
func (c *checker) missing(f ledger.Fault, end, count uint64, known bool, last canon.Digest) {
	f.Code, f.Detail = ledger.FaultMissing, "the receipt is gone from the ledger"
	if f.Position > end && f.Position < count {
		f.Detail = fmt.Sprintf("the receipts up to number %d are gone from the ledger", count)
	}
	if known && f.Position > 1 {
		f.Detail += fmt.Sprintf("; the one before has the hash %v", last)
	}
	c.fault(f)
}

func (c *checker) row(get *sql.Stmt, s streamRow, position uint64) (r stored, err error) {
	var hash, previous []byte
	err = get.QueryRowContext(c.ctx, s.id, position).Scan(&r.sequence, &r.id, &r.task, &r.subject, &r.session, &r.issuedAt, &hash, &previous, &r.json)
	r.link = chain.Link{First: previous == nil}
	copy(r.link.Hash[:], hash)
	copy(r.link.Previous[:], previous)
	r.stream = s.Stream
	return r, err
}

// idAt reads a receipt_id only from the indexes, for a row that cannot be read.
func (c *checker) idAt(stream int64, position uint64) (id string) {
	c.db.QueryRowContext(c.ctx, "SELECT receipt_id FROM receipts INDEXED BY sqlite_autoindex_receipts_1 WHERE +seq = (SELECT seq FROM receipts INDEXED BY receipts_place WHERE stream = ? AND position = ?)", stream, position).Scan(&id)
	return id
}

// judge verifies a receipt, and compares it with its row.
func (c *checker) judge(f ledger.Fault, r stored) {
	c.verifier.VerifyBytes(r.json, &c.doc, &c.report)
	switch c.report.Verdict {
	case receipt.Verified:
		c.Verified++
	case receipt.Undecided:
		c.Undecided++
	default:
		found := c.report.Finding()
		f.Code, f.Detail = string(found.Code), found.Detail
		if found.Pointer != "" {
			f.Detail += fmt.Sprintf(" at %.200q", found.Pointer)
		}
		c.fault(f)
		return
	}

	// An intact receipt may be in a row with other values.
	var own row
	if err := own.read(r.json); err != nil {
		f.Code, f.Detail = ledger.FaultRow, err.Error()
		c.fault(f)
		return
	}
	if !c.ledger.has(subjects) {
		own.subject = sql.NullString{}
	}

	for _, column := range r.differences(&own) {
		f.Code, f.Detail = ledger.FaultRow, otherColumn(column)
		c.fault(f)
	}
}

// strays finds rows that do not belong to a chain.
func (c *checker) strays() error {
	rows, err := c.db.QueryContext(c.ctx, "SELECT r.receipt_id, r.position FROM receipts r LEFT JOIN streams s ON s.id = r.stream WHERE s.id IS NULL OR r.position > s.count ORDER BY r.seq")
	if err != nil {
		return c.damaged(err)
	}
	defer rows.Close()

	for rows.Next() {
		f := ledger.Fault{Code: ledger.FaultRow, Detail: "its row is after the end of every stream"}
		if err := rows.Scan(&f.ID, &f.Position); err != nil {
			return c.damaged(err)
		}
		c.fault(f)
	}
	return c.damaged(rows.Err())
}
