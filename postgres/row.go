package postgres

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A row is what the table has of a receipt, apart from its place.
type row struct {
	id, task, subject, session []byte
	issuedAt                   int64
	hash, previous, json       []byte // previous is empty for the first receipt of a stream
}

// rowOf computes the row of a receipt.
func rowOf(doc *canon.Document, json []byte) (row, error) {
	link, ok := chain.LinkOf(doc)
	if !ok {
		return row{}, errors.New("the receipt has no hash")
	}
	root := doc.Root()
	at, err := receipt.ParseTime(root.Member("issued_at").String())
	if err != nil {
		return row{}, err
	}

	own := row{
		id: []byte(root.Member("receipt_id").String()), issuedAt: at.UnixMilli(), hash: link.Hash[:], previous: []byte{}, json: json,
		task:    []byte(root.Member("identifiers").Member("task_id").String()),
		session: []byte(root.Member("identifiers").Member("session_id").String()),
		subject: []byte{},
	}
	if !link.First {
		own.previous = link.Previous[:]
	}

	// A receipt is found by the task that is its subject as well as by the task that it was part of.
	if subject := root.Member("subject"); subject.Member("object").String() == "task" {
		if id := []byte(subject.Member("id").String()); !bytes.Equal(id, own.task) {
			own.subject = id
		}
	}
	return own, nil
}

// A stored is a row that was read, with its place. Nothing of it is trusted before it was compared.
type stored struct {
	row
	sequence int64
	position uint64
	stream   chain.Stream
	end      chain.Head // of its stream
	before   *int64     // sequence of the row before it in the stream
	last     []byte     // hash of that row
	forks    bool       // an earlier receipt names the same predecessor
	cut      int64      // sequence of the last receipt that was pruned
}

// selectRows begins a query of rows r for scan. What follows is the name of a table or a selection,
// whose columns are those of ledger_receipts.
const selectRows = `SELECT r.seq, r.position, r.receipt_id, r.task, r.subject, r.session, r.issued_at, r.hash, r.previous, r.json,
	s.issuer, s.tenant, s.workspace, s.head, s.count, p.seq, p.hash,
	EXISTS (SELECT FROM ledger_receipts o WHERE o.stream = r.stream AND o.previous = r.previous AND o.seq < r.seq),
	(SELECT coalesce(max(last), 0) FROM ledger_prunings)
FROM %s r JOIN ledger_streams s ON s.id = r.stream LEFT JOIN ledger_receipts p ON p.stream = r.stream AND p.position = r.position - 1
WHERE %s`

// scan reads a row of a query that selectRows begins.
func scan(from pgx.CollectableRow) (*stored, error) {
	r := new(stored)
	var issuer, tenant, workspace, head []byte
	err := from.Scan(&r.sequence, &r.position, &r.id, &r.task, &r.subject, &r.session, &r.issuedAt, &r.hash, &r.previous, &r.json,
		&issuer, &tenant, &workspace, &head, &r.end.Count, &r.before, &r.last, &r.forks, &r.cut)
	if err != nil {
		return nil, err
	}
	r.stream = streamOf(issuer, tenant, workspace)
	r.end.Hash = digest(head)
	return r, nil
}

func streamOf(issuer, tenant, workspace []byte) chain.Stream {
	return chain.Stream{Issuer: string(issuer), Tenant: string(tenant), HasTenant: tenant != nil, Workspace: string(workspace)}
}

// digest returns a hash as the table has it.
func digest(data []byte) (d canon.Digest) {
	copy(d[:], data)
	return d
}

// pruned reports whether the content of a receipt is in an archive.
func (r *stored) pruned() bool { return r.sequence <= r.cut }

// entry returns the row for callers.
func (r *stored) entry() ledger.Entry {
	e := ledger.Entry{Sequence: r.sequence, Position: r.position, ID: string(r.id), Hash: digest(r.hash), Stream: r.stream, JSON: r.json}
	if r.pruned() {
		e.JSON = nil
	}
	return e
}

// check compares a row with the receipt in it and with the rows around it.
func (r *stored) check() error {
	if err := r.fits(); err != nil {
		return err
	}
	return r.place()
}

// fits compares a row with the receipt in it.
func (r *stored) fits() error {
	if r.pruned() {
		if len(r.json) > 0 {
			return r.damage(ledger.FaultRow, "it is said to be pruned, and its content is there")
		}
		return nil
	}

	doc, err := canon.Parse(r.json)
	var columns []string
	if err == nil {
		columns, err = r.differences(doc)
	}
	if err != nil {
		return ledger.Unreadable(string(r.id), r.stream, err)
	}
	if len(columns) > 0 {
		return r.damage(ledger.FaultRow, "%s", ledger.OtherColumn(columns[0]))
	}
	return nil
}

// differences returns the columns in which a row differs from its receipt.
func (r *stored) differences(doc *canon.Document) (columns []string, err error) {
	own, err := rowOf(doc, r.json)
	if err != nil {
		return nil, err
	}
	for _, column := range []struct {
		name string
		same bool
	}{
		{"receipt_id", bytes.Equal(own.id, r.id)},
		{"task", bytes.Equal(own.task, r.task)},
		{"subject", bytes.Equal(own.subject, r.subject)},
		{"session", bytes.Equal(own.session, r.session)},
		{"issued_at", own.issuedAt == r.issuedAt},
		{"hash or previous", bytes.Equal(own.hash, r.hash) && bytes.Equal(own.previous, r.previous)},
		{"stream", chain.StreamOf(doc) == r.stream},
	} {
		if !column.same {
			columns = append(columns, column.name)
		}
	}
	return columns, nil
}

// place checks the position of a row: after the row that its receipt names, stored later than that
// row, and at the head if no row follows.
func (r *stored) place() error {
	first := r.position == 1
	switch {
	case r.position == 0 || r.position > r.end.Count:
		return r.damage(ledger.FaultRow, "row is after the end of every stream")
	case first != (len(r.previous) == 0), !first && (r.before == nil || !bytes.Equal(r.last, r.previous)):
		return r.damage(string(receipt.CodeChainBreak), "the receipt that it follows is not at number %d of its stream", r.position-1)
	case !first && *r.before >= r.sequence:
		return r.damage(ledger.FaultRow, "its row was stored before the receipt that it follows")
	case r.position == r.end.Count && r.end.Hash != digest(r.hash):
		return r.damage(string(receipt.CodeHeadMismatch), "it is the last of its stream, whose head is said to be %v", r.end.Hash)
	}
	return nil
}

func (r *stored) damage(code, format string, args ...any) *ledger.DamageError {
	return &ledger.DamageError{Code: code, ID: string(r.id), Stream: r.stream, Detail: fmt.Sprintf(format, args...)}
}
