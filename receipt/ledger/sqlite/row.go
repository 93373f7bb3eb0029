package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A row is a receipt as the table has it.
type row struct {
	id            string
	task, session sql.NullString
	subject       sql.NullString // the task that is the subject, if it differs from task
	issuedAt      int64
	link          chain.Link
	stream        chain.Stream
	json          []byte
}

// read computes the row of a stored receipt from the receipt.
func (r *row) read(json []byte) error {
	doc, err := canon.Parse(json)
	if err != nil {
		return err
	}
	return r.of(doc, json)
}

// of computes the row of a receipt, whose canonical form is json.
func (r *row) of(doc *canon.Document, json []byte) error {
	link, ok := chain.LinkOf(doc)
	if !ok {
		return errors.New("ledger: receipt has no hash")
	}

	root := doc.Root()
	at, err := receipt.ParseTime(root.Member("issued_at").String())
	if err != nil {
		return err
	}

	*r = row{
		id: root.Member("receipt_id").String(), issuedAt: at.UnixMilli(), link: link, stream: chain.StreamOf(doc), json: json,
		task:    text(root.Member("identifiers").Member("task_id")),
		session: text(root.Member("identifiers").Member("session_id")),
	}

	// A receipt is found by the task that is its subject as well as by the task that it was part
	// of.
	if subject := root.Member("subject"); subject.Member("object").String() == "task" {
		if id := text(subject.Member("id")); id.String != "" && id != r.task {
			r.subject = id
		}
	}

	return nil
}

func text(n canon.Node) sql.NullString {
	return sql.NullString{String: n.String(), Valid: n.Kind() == canon.KindString}
}

// differences returns the columns in which a row differs from its receipt.
func (r *row) differences(own *row) (columns []string) {
	for _, column := range []struct {
		name    string
		differs bool
	}{
		{"receipt_id", own.id != r.id},
		{"task", own.task != r.task},
		{"subject", own.subject != r.subject},
		{"session", own.session != r.session},
		{"issued_at", own.issuedAt != r.issuedAt},
		{"hash or previous", own.link != r.link},
		{"stream", own.stream != r.stream},
	} {
		if column.differs {
			columns = append(columns, column.name)
		}
	}
	return columns
}

// A stored is a row that was read, with its context. Nothing of it is trusted before check.
type stored struct {
	row
	sequence int64
	position uint64
	orphan   bool          // no such stream
	end      chain.Head    // of its stream
	before   sql.NullInt64 // sequence of the row before it in the stream
	last     canon.Digest  // hash of that row
	cut      int64         // sequence of the last receipt that was pruned
}

// pruned reports whether the content of a receipt was moved to an archive, according to the ledger.
func (r *stored) pruned() bool { return r.sequence <= r.cut }

// empty makes sure that a row that is marked as pruned has no content.
func (r *stored) empty() *ledger.DamageError {
	if len(r.json) > 0 {
		return damageOf(ledger.FaultRow, r.id, r.stream, "it is said to be pruned, and its content is there")
	}
	return nil
}

// entry returns the row for callers.
func (r *stored) entry() ledger.Entry {
	e := ledger.Entry{Sequence: r.sequence, Position: r.position, ID: r.id, Hash: r.link.Hash, Stream: r.stream, JSON: r.json}
	if r.pruned() {
		e.JSON = nil
	}
	return e
}

// scan reads a row of a query that selectRows begins.
func (r *stored) scan(scan func(...any) error) error {
	var issuer, tenant, workspace sql.NullString
	var count sql.NullInt64
	var hash, previous, head, last []byte
	if err := scan(&r.sequence, &r.position, &r.id, &r.task, &r.subject, &r.session, &r.issuedAt, &hash, &previous, &r.json,
		&issuer, &tenant, &workspace, &head, &count, &r.before, &last, &r.cut); err != nil {
		return err
	}

	// NULL is the predecessor of a first receipt, or the stream of a row without one.
	r.link = chain.Link{First: previous == nil}
	copy(r.link.Hash[:], hash)
	copy(r.link.Previous[:], previous)
	r.orphan = !issuer.Valid
	r.stream = chain.Stream{Issuer: issuer.String, Tenant: tenant.String, HasTenant: tenant.Valid, Workspace: workspace.String}
	r.end.Count = uint64(count.Int64)
	copy(r.end.Hash[:], head)
	copy(r.last[:], last)
	return nil
}

// place checks the position of a row: after the row that its receipt names, stored later than that
// row, and at the head if no row follows.
func (r *stored) place() error {
	first := r.position == 1
	switch {
	case r.orphan || r.position == 0 || r.position > r.end.Count:
		return damageOf(ledger.FaultRow, r.id, r.stream, "row is after the end of every stream")
	case first != r.link.First, !first && (!r.before.Valid || r.last != r.link.Previous):
		return damageOf(string(receipt.CodeChainBreak), r.id, r.stream, fmt.Sprintf("the receipt that it follows is not at number %d of its stream", r.position-1))
	case !first && r.before.Int64 >= r.sequence:
		return damageOf(ledger.FaultRow, r.id, r.stream, "its row was stored before the receipt that it follows")
	case r.position == r.end.Count && r.end.Hash != r.link.Hash:
		return damageOf(string(receipt.CodeHeadMismatch), r.id, r.stream, fmt.Sprintf("it is the last of its stream, whose head is said to be %v", r.end.Hash))
	}
	return nil
}

// refuted returns the link of a receipt in an invalid position.
func (r *stored) refuted(code receipt.Code, cause receipt.Cause, detail string) receipt.Check {
	c := receipt.Check{Status: receipt.StatusFailed, Code: code, Pointer: "/chain/previous_receipt_hash", Stated: "null", Cause: cause, Detail: detail}
	if !r.link.First {
		c.Stated = r.link.Previous.String()
	}
	return c
}

// damageOf returns the error for a damaged row.
func damageOf(code, id string, s chain.Stream, detail string) *ledger.DamageError {
	return &ledger.DamageError{Code: code, ID: id, Stream: s, Detail: detail}
}
