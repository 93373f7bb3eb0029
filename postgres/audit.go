package postgres

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// An audit reads rows in one snapshot, whatever others store meanwhile.
type audit struct {
	ledger *Ledger
	ctx    context.Context
	conn   *pgxpool.Conn
}

// Audit is described at [ledger.Auditor].
func (l *Ledger) Audit(ctx context.Context) (ledger.Audit, error) {
	conn, err := l.pool.Acquire(ctx)
	if err != nil {
		return nil, l.wrap(ctx, "check the ledger", err)
	}
	a := &audit{l, ctx, conn}
	if _, err := conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); err != nil {
		a.Close()
		return nil, a.wrap(err)
	}
	return a, nil
}

func (a *audit) wrap(err error) error { return a.ledger.wrap(a.ctx, "check the ledger", err) }

// Close ends the snapshot.
func (a *audit) Close() error {
	rollBack(a.ctx, a.conn)
	a.conn.Release()
	return nil
}

// Self compares the number that orders appends with the rows. PostgreSQL has no record outside of
// the database.
func (a *audit) Self(tell func(ledger.Fault)) (marked bool, err error) {
	var stated, last int64
	if err := a.conn.QueryRow(a.ctx, "SELECT ledger.last, (SELECT coalesce(max(seq), 0) FROM ledger_receipts) FROM ledger").Scan(&stated, &last); err != nil {
		return false, a.wrap(err)
	}
	if stated != last {
		tell(ledger.Fault{Code: ledger.FaultMissing, Detail: fmt.Sprintf("the last receipt has the sequence %d, expected %d", last, stated)})
	}
	return false, nil
}

func (a *audit) Prunings() ([]ledger.Pruning, error) {
	list, err := prunings(a.ctx, a.conn, "ORDER BY size")
	return list, a.wrap(err)
}

func (a *audit) Hashes(last int64) iter.Seq2[ledger.KeptHash, error] {
	return hashes(a.ctx, a.conn, last)
}

func (a *audit) Streams() (list []ledger.StreamHead, err error) {
	ends, err := streams(a.ctx, a.conn)
	for _, e := range ends {
		list = append(list, e.StreamHead)
	}
	slices.SortFunc(list, func(a, b ledger.StreamHead) int { return a.Stream.Compare(b.Stream) })
	return list, a.wrap(err)
}

func (a *audit) Last(s chain.Stream) (position uint64, err error) {
	err = a.conn.QueryRow(a.ctx, "SELECT coalesce(max(position), 0) FROM ledger_receipts WHERE stream = (SELECT id FROM ledger_streams WHERE name = $1)", nameOf(s)).Scan(&position)
	return position, a.wrap(err)
}

func (a *audit) Row(s chain.Stream, position uint64) (*ledger.Row, error) {
	r, err := one(a.ctx, a.conn, "s.name = $1 AND r.position = $2", nameOf(s), position)
	if err != nil {
		return nil, a.wrap(err)
	}
	link := chain.Link{First: len(r.previous) == 0, Hash: digest(r.hash), Previous: digest(r.previous)}
	return &ledger.Row{Sequence: r.sequence, ID: string(r.id), Link: link, JSON: r.json, Differences: func() ([]string, error) {
		doc, err := canon.Parse(r.json)
		if err != nil {
			return nil, err
		}
		return r.differences(doc)
	}}, nil
}

func (a *audit) Strays(tell func(ledger.Fault)) error {
	rows, err := a.conn.Query(a.ctx, "SELECT r.receipt_id, r.position FROM ledger_receipts r LEFT JOIN ledger_streams s ON s.id = r.stream WHERE s.id IS NULL OR r.position > s.count ORDER BY r.seq")
	if err != nil {
		return a.wrap(err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f ledger.Fault, err error) {
		var id []byte
		err = row.Scan(&id, &f.Position)
		f.Code, f.ID, f.Detail = ledger.FaultRow, string(id), "row is after the end of every stream"
		return f, err
	})
	for _, f := range list {
		tell(f)
	}
	return a.wrap(err)
}
