package postgres

import (
	"context"
	"iter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A querier is a connection or a pool of connections.
type querier interface {
	Query(ctx context.Context, statement string, args ...any) (pgx.Rows, error)
}

// hashes yields the hashes of all receipts up to and including the receipt with the sequence number
// last.
func hashes(ctx context.Context, db querier, last int64) iter.Seq2[ledger.Row, error] {
	return func(yield func(ledger.Row, error) bool) {
		rows, err := db.Query(ctx, "SELECT seq, hash FROM ledger_receipts WHERE seq <= $1 ORDER BY seq", last)
		if err != nil {
			yield(ledger.Row{}, err)
			return
		}
		defer rows.Close()

		for rows.Next() {
			var r ledger.Row
			var hash []byte
			err := rows.Scan(&r.Sequence, &hash)
			r.Hash = digest(hash)
			if !yield(r, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(ledger.Row{}, err)
		}
	}
}

// Prunings implements [ledger.Pruner].
func (l *Ledger) Prunings(ctx context.Context) ([]ledger.Pruning, error) {
	rows, err := l.pool.Query(ctx, "SELECT size, after, last, root, checkpoint, archive, digest FROM ledger_prunings ORDER BY size")
	if err != nil {
		return nil, l.wrap(ctx, "list the prunings", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p ledger.Pruning, err error) {
		var root, archive, sum []byte
		err = row.Scan(&p.Size, &p.After, &p.Last, &root, &p.Checkpoint, &archive, &sum)
		copy(p.Root[:], root)
		p.Archive, p.Digest = string(archive), digest(sum)
		return p, err
	})
	return list, l.wrap(ctx, "list the prunings", err)
}

// Hashes implements [ledger.Pruner].
func (l *Ledger) Hashes(ctx context.Context, last int64) iter.Seq2[ledger.Row, error] {
	return func(yield func(ledger.Row, error) bool) {
		for r, err := range hashes(ctx, l.pool, last) {
			if !yield(r, l.wrap(ctx, "compare the prunings", err)) {
				return
			}
		}
	}
}

// Cut implements [ledger.Pruner].
func (l *Ledger) Cut(ctx context.Context, c *ledger.Cut) error {
	return l.transact(ctx, "prune", func(conn *pgxpool.Conn) (*pgx.Batch, error) {
		// Readers can continue, but other writers wait.
		if _, err := conn.Exec(ctx, "LOCK TABLE ledger_prunings, ledger_receipts IN SHARE ROW EXCLUSIVE MODE"); err != nil {
			return nil, err
		}

		var after, receipts, bytes int64
		err := conn.QueryRow(ctx, `SELECT (SELECT coalesce(max(last), 0) FROM ledger_prunings), count(*), coalesce(sum(length(json)), 0)
FROM ledger_receipts WHERE seq > $1 AND seq <= $2`, c.After, c.Last).Scan(&after, &receipts, &bytes)
		if err != nil {
			return nil, err
		}
		if err := c.Compare(after, receipts, bytes, hashes(ctx, conn, c.Last)); err != nil {
			return nil, err
		}

		b := &pgx.Batch{}
		b.Queue("UPDATE ledger_receipts SET json = '' WHERE seq > $1 AND seq <= $2", c.After, c.Last)
		b.Queue("INSERT INTO ledger_prunings (size, after, last, root, checkpoint, archive, digest) VALUES ($1, $2, $3, $4, $5, $6, $7)",
			c.Size, c.After, c.Last, c.Root[:], c.Checkpoint, []byte(c.Archive), c.Digest[:])
		return b, nil
	})
}
