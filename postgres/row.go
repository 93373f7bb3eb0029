package postgres

import (
	"errors"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A row is what the table has of a receipt, apart from its place.
type row struct {
	id, task, subject, session []byte
	issuedAt                   int64
	hash, previous, json       []byte
}

// rowsOf returns the rows of a run, each receipt of which follows the one before it.
func rowsOf(s chain.Stream, previous chain.Head, run []*receipt.Sealed) (rows []row, err error) {
	for _, r := range run {
		if err := ledger.Follows(s, previous, r); err != nil {
			return nil, err
		}
		next, err := rowOf(r)
		if err != nil {
			return nil, err
		}
		rows, previous = append(rows, next), r.Head()
	}
	return rows, nil
}

func rowOf(r *receipt.Sealed) (row, error) {
	doc := r.Document()
	root := doc.Root()
	link, ok := chain.LinkOf(doc)
	if !ok {
		return row{}, errors.New("postgres: the receipt has no hash")
	}
	at, err := receipt.ParseTime(root.Member("issued_at").String())
	if err != nil {
		return row{}, err
	}

	own := row{
		id: []byte(r.ID()), issuedAt: at.UnixMilli(), hash: link.Hash[:], previous: []byte{}, json: r.JSON(),
		task:    []byte(root.Member("identifiers").Member("task_id").String()),
		session: []byte(root.Member("identifiers").Member("session_id").String()),
		subject: []byte{},
	}
	if !link.First {
		own.previous = link.Previous[:]
	}

	// A receipt is found by the task that is its subject as well as by the task that it was part of.
	if subject := root.Member("subject"); subject.Member("object").String() == "task" {
		if id := subject.Member("id").String(); id != string(own.task) {
			own.subject = []byte(id)
		}
	}
	return own, nil
}

// misled returns the error for an index that led to another row than the requested one.
func misled(id string, s chain.Stream) error {
	return &ledger.DamageError{Code: ledger.FaultFile, ID: id, Stream: s, Detail: "an index leads to it that should not"}
}

// digest returns a hash as the table has it.
func digest(data []byte) (d canon.Digest) {
	copy(d[:], data)
	return d
}
