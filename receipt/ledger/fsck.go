package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Fault is one thing that is wrong with a ledger.
type Fault struct {
	Code     string        // of the receipt codes, or FaultFile, FaultMissing, FaultUnreadable, FaultRow
	ID       string        // receipt_id, as far as it is known
	Stream   *chain.Stream // nil: of no stream
	Position uint64        // in the stream, from 1; 0: of no receipt
	Detail   string
}

// Codes of faults that are not a receipt's own.
const (
	FaultFile       = "ledger_file"       // SQLite finds its file damaged
	FaultMissing    = "ledger_missing"    // a row is gone
	FaultUnreadable = "ledger_unreadable" // a row cannot be read
	FaultRow        = "ledger_row"        // a row says something else than its receipt
)

// A Checked is what Check found.
type Checked struct {
	Receipts  int // rows that were read
	Verified  int
	Undecided int // intact, but evidence for their signatures is missing
	Streams   []StreamHead
	Faults    int // see the function that Check was given
}

// Check reads all of the ledger: SQLite's own structures, each receipt, its row,
// its place in the chain, and the heads. It verifies receipts with v; a v for
// integrity only checks no signatures. Each fault is given to report as it is
// found. The error is about the check itself: with one the ledger was not checked
// to its end.
//
// Receipts that were removed at the end of a stream together with its head leave
// no trace. Compare the heads with ones that were kept elsewhere.
func (l *SQLite) Check(ctx context.Context, v *receipt.Verifier, report func(Fault)) (*Checked, error) {
	c := &checker{ledger: l, ctx: ctx, verifier: v, tell: report}
	steps := []func() error{c.file, c.chains, c.strays}
	for _, step := range steps {
		if err := step(); err != nil {
			return &c.Checked, err
		}
	}
	return &c.Checked, ctx.Err()
}

type checker struct {
	ledger *SQLite
	Checked
	ctx      context.Context
	verifier *receipt.Verifier
	tell     func(Fault)
	doc      canon.Document
	report   receipt.Report
}

func (c *checker) fault(f Fault) {
	c.Faults++
	c.tell(f)
}

// file lets SQLite check its own structures.
func (c *checker) file() error {
	for _, pragma := range []string{"integrity_check(100)", "foreign_key_check"} {
		if err := c.pragma(pragma); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) pragma(name string) error {
	rows, err := c.ledger.read.QueryContext(c.ctx, "PRAGMA "+name)
	if err != nil {
		return c.damaged(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return c.damaged(err)
	}
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
		c.fault(Fault{Code: FaultFile, Detail: text})
	}
	return c.damaged(rows.Err())
}

// damaged makes a fault of an error of reading: what SQLite or this program cannot
// read is damaged. It keeps errors that say nothing about the file.
func (c *checker) damaged(err error) error {
	if err == nil || c.ctx.Err() != nil {
		return err
	}
	switch code(err) & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT:
		return err
	}
	c.fault(Fault{Code: FaultFile, Detail: err.Error()})
	return nil
}

// chains follows each chain from its beginning.
func (c *checker) chains() error {
	var err error
	if c.Streams, err = c.ledger.streams(c.ctx); err != nil {
		return c.damaged(err)
	}
	for _, s := range c.Streams {
		if err := c.chain(s); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) chain(s StreamHead) error {
	id, _, err := head(c.ctx, c.ledger.read, s.Stream)
	if err != nil {
		return c.damaged(err)
	}
	get, err := c.ledger.read.PrepareContext(c.ctx, "SELECT receipt_id, task, session, issued_at, hash, previous, json FROM receipts WHERE stream = ? AND position = ?")
	if err != nil {
		return c.damaged(err)
	}
	defer get.Close()
	var last canon.Digest // of the receipt before
	known := true         // whether last is it
	for position := uint64(1); position <= s.Head.Count; position++ {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		f := Fault{Stream: &s.Stream, Position: position}
		r, hash, previous, err := c.row(get, id, position)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			f.Code, f.Detail = FaultMissing, "the receipt is gone from the ledger"
			if known && position > 1 {
				f.Detail += fmt.Sprintf("; the one before it has the hash %v", last)
			}
			c.fault(f)
			known = false
			continue
		case err != nil:
			f.Code, f.Detail, f.ID = FaultUnreadable, err.Error(), c.idAt(id, position)
			c.fault(f)
			known = false
			continue
		}
		f.ID = r.id
		c.Receipts++
		link := c.judge(f, s.Stream, r, hash, previous)
		if known && !follows(link, last) {
			f.Code, f.Detail = string(receipt.CodeChainBreak), fmt.Sprintf("it names another predecessor than the receipt before it, which has the hash %v", last)
			c.fault(f)
		}
		last, known = hash, true
	}
	if known && last != s.Head.Hash {
		c.fault(Fault{Code: string(receipt.CodeHeadMismatch), Stream: &s.Stream, Position: s.Head.Count,
			Detail: fmt.Sprintf("the ledger says that the head is %v, its last receipt has %v", s.Head.Hash, last)})
	}
	return nil
}

func (c *checker) row(get *sql.Stmt, stream int64, position uint64) (r row, hash, previous canon.Digest, err error) {
	var h, p []byte
	if err = get.QueryRowContext(c.ctx, stream, position).Scan(&r.id, &r.task, &r.session, &r.issuedAt, &h, &p, &r.json); err != nil {
		return r, hash, previous, err
	}
	copy(hash[:], h)
	copy(previous[:], p)
	return r, hash, previous, nil
}

// idAt reads a receipt_id from the indexes alone, where the row cannot be read.
func (c *checker) idAt(stream int64, position uint64) (id string) {
	c.ledger.read.QueryRowContext(c.ctx, "SELECT receipt_id FROM receipts INDEXED BY sqlite_autoindex_receipts_1 WHERE +seq = (SELECT seq FROM receipts INDEXED BY receipts_place WHERE stream = ? AND position = ?)", stream, position).Scan(&id)
	return id
}

// judge verifies a receipt, compares it with its row, and returns its link as the
// row has it.
func (c *checker) judge(f Fault, s chain.Stream, r row, hash, previous canon.Digest) chain.Link {
	link := chain.Link{First: previous == (canon.Digest{}), Previous: previous, Hash: hash}
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
		return link
	}
	var own row
	if err := own.read(r.json); err != nil {
		f.Code, f.Detail = FaultRow, err.Error()
		c.fault(f)
		return link
	}
	for _, differs := range []struct {
		column string
		is     bool
	}{
		{"receipt_id", own.id != r.id},
		{"task", own.task != r.task},
		{"session", own.session != r.session},
		{"issued_at", own.issuedAt != r.issuedAt},
		{"hash or previous", own.link != link},
		{"stream", own.stream != s},
	} {
		if differs.is {
			f.Code, f.Detail = FaultRow, "its row has another "+differs.column+" than the receipt"
			c.fault(f)
		}
	}
	return link
}

// strays finds rows that no chain leads to.
func (c *checker) strays() error {
	rows, err := c.ledger.read.QueryContext(c.ctx, "SELECT r.receipt_id, r.position FROM receipts r LEFT JOIN streams s ON s.id = r.stream WHERE s.id IS NULL OR r.position > s.count ORDER BY r.seq")
	if err != nil {
		return c.damaged(err)
	}
	defer rows.Close()
	for rows.Next() {
		f := Fault{Code: FaultRow, Detail: "its row is behind the end of every stream"}
		if err := rows.Scan(&f.ID, &f.Position); err != nil {
			return c.damaged(err)
		}
		c.fault(f)
	}
	return c.damaged(rows.Err())
}
