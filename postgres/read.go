package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// condition returns the SQL condition for the row with a key, or "" if no row can have the key. The
// hashes of IDs are indexed, because an index cannot contain names of arbitrary length.
func condition(k ledger.Key) (where string, args []any) {
	var none ledger.Key
	switch {
	case k.ID != "":
		return "sha256(r.receipt_id) = sha256($1)", []any{[]byte(k.ID)}
	case k.Hash != none.Hash:
		return "r.hash = $1 ORDER BY r.seq LIMIT 1", []any{k.Hash[:]}
	case k.Position > 0:
		return "s.name = $1 AND r.position = $2", []any{nameOf(k.Stream), k.Position}
	case k.Rival > 0:
		return `r.seq = (SELECT min(o.seq) FROM ledger_receipts o JOIN ledger_receipts x ON x.stream = o.stream AND x.previous = o.previous
	WHERE x.seq = $1 AND o.seq < x.seq)`, []any{k.Rival}
	}
	return "", nil
}

// Find implements [ledger.Store].
func (l *Ledger) Find(ctx context.Context, k ledger.Key) (*ledger.Row, error) {
	where, args := condition(k)
	if where == "" {
		return nil, ledger.ErrNotFound
	}
	if k.Sees != nil {
		rows, err := l.pool.Query(ctx, "SELECT s.issuer, s.tenant, s.workspace FROM ledger_receipts r JOIN ledger_streams s ON s.id = r.stream WHERE "+where, args...)
		if err != nil {
			return nil, l.wrap(ctx, "look for a receipt", err)
		}
		s, err := pgx.CollectOneRow(rows, func(row pgx.CollectableRow) (chain.Stream, error) {
			var issuer, tenant, workspace []byte
			err := row.Scan(&issuer, &tenant, &workspace)
			return streamOf(issuer, tenant, workspace), err
		})
		if errors.Is(err, pgx.ErrNoRows) || err == nil && !k.Sees(s) {
			return nil, ledger.ErrNotFound
		}
		if err != nil {
			return nil, l.wrap(ctx, "look for a receipt", err)
		}
	}

	rows, err := l.pool.Query(ctx, fmt.Sprintf(selectRows, "ledger_receipts", where), args...)
	if err != nil {
		return nil, l.wrap(ctx, "read a receipt", err)
	}
	r, err := pgx.CollectOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ledger.ErrNotFound
	}
	return r, l.wrap(ctx, "read a receipt", err)
}

// Streams implements [ledger.Reader].
func (l *Ledger) Streams(ctx context.Context) (list []ledger.StreamHead, err error) {
	ends, err := streams(ctx, l.pool)
	for _, e := range ends {
		list = append(list, e.StreamHead)
	}
	if err != nil {
		return nil, l.wrap(ctx, "list the streams", err)
	}
	slices.SortFunc(list, func(a, b ledger.StreamHead) int { return a.Stream.Compare(b.Stream) })
	return list, nil
}

// Audit implements [ledger.Auditor]. It compares the stored last sequence number with the rows, and
// reports rows that belong to no stream or are after the end of their stream. For PostgreSQL, there
// is no record outside the database.
func (l *Ledger) Audit(ctx context.Context, report func(ledger.Fault)) (marked bool, err error) {
	var stated, last int64
	if err := l.pool.QueryRow(ctx, "SELECT ledger.last, (SELECT coalesce(max(seq), 0) FROM ledger_receipts) FROM ledger").Scan(&stated, &last); err != nil {
		return false, l.wrap(ctx, "check the ledger", err)
	}
	if stated != last {
		report(ledger.Fault{Code: ledger.FaultMissing, Detail: fmt.Sprintf("the last receipt has the sequence %d, expected %d", last, stated)})
	}

	rows, err := l.pool.Query(ctx, "SELECT r.receipt_id, r.position FROM ledger_receipts r LEFT JOIN ledger_streams s ON s.id = r.stream WHERE s.id IS NULL OR r.position > s.count ORDER BY r.seq")
	if err != nil {
		return false, l.wrap(ctx, "check the ledger", err)
	}
	strays, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (f ledger.Fault, err error) {
		var id []byte
		err = row.Scan(&id, &f.Position)
		f.Code, f.ID, f.Detail = ledger.FaultRow, string(id), "row is after the end of every stream"
		return f, err
	})
	for _, f := range strays {
		report(f)
	}
	return false, l.wrap(ctx, "check the ledger", err)
}
