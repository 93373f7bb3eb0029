package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// selectRows is the beginning of a query for rows r that scan can read. It must be followed by the
// name of a table or by a selection that has the columns of ledger_receipts.
const selectRows = `SELECT r.seq, r.position, r.receipt_id, r.task, r.subject, r.session, r.issued_at, r.hash, r.previous, r.json,
	s.issuer, s.tenant, s.workspace, s.head, s.count, coalesce(p.seq, 0), p.hash,
	(SELECT coalesce(max(last), 0) FROM ledger_prunings)
FROM %s r JOIN ledger_streams s ON s.id = r.stream LEFT JOIN ledger_receipts p ON p.stream = r.stream AND p.position = r.position - 1
WHERE %s`

// scan reads a row from a query that begins with selectRows. Names are stored as bytes, because
// values of PostgreSQL's type text cannot contain NUL.
func scan(from pgx.CollectableRow) (*ledger.Row, error) {
	r := &ledger.Row{Place: new(ledger.Place)}
	var id, task, subject, session, hash, previous, issuer, tenant, workspace, head, last []byte
	var cut int64
	err := from.Scan(&r.Sequence, &r.Position, &id, &task, &subject, &session, &r.IssuedAt, &hash, &previous, &r.JSON,
		&issuer, &tenant, &workspace, &head, &r.Place.Head.Count, &r.Place.Before, &last, &cut)
	if err != nil {
		return nil, err
	}

	r.ID, r.Task, r.Subject, r.Session = string(id), string(task), string(subject), string(session)
	r.Stream = streamOf(issuer, tenant, workspace)
	r.Link = chain.Link{First: len(previous) == 0, Hash: digest(hash), Previous: digest(previous)}
	r.Place.Head.Hash, r.Place.Previous = digest(head), digest(last)
	r.Pruned = r.Sequence <= cut
	if len(r.JSON) == 0 {
		r.JSON = nil
	}
	return r, nil
}

func streamOf(issuer, tenant, workspace []byte) chain.Stream {
	return chain.Stream{Issuer: string(issuer), Tenant: string(tenant), HasTenant: tenant != nil, Workspace: string(workspace)}
}

// digest returns a hash in the form in which the tables store it.
func digest(data []byte) (d canon.Digest) {
	copy(d[:], data)
	return d
}
