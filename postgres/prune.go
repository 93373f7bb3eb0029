package postgres

import (
	"context"
	"iter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A querier is a connection, or several.
type querier interface {
	Query(ctx context.Context, statement string, args ...any) (pgx.Rows, error)
}

// prunings returns the prunings as their table has them.
func prunings(ctx context.Context, db querier, rest string, args ...any) ([]ledger.Pruning, error) {
	rows, err := db.Query(ctx, "SELECT size, after, last, root, checkpoint, archive, digest FROM ledger_prunings "+rest, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p ledger.Pruning, err error) {
		var root, archive, sum []byte
		err = row.Scan(&p.Size, &p.After, &p.Last, &root, &p.Checkpoint, &archive, &sum)
		copy(p.Root[:], root)
		p.Archive, p.Digest = string(archive), digest(sum)
		return p, err
	})
}

// hashes yields the hashes of all receipts up to a last one.
func hashes(ctx context.Context, db querier, last int64) iter.Seq2[ledger.KeptHash, error] {
	return func(yield func(ledger.KeptHash, error) bool) {
		rows, err := db.Query(ctx, "SELECT seq, hash FROM ledger_receipts WHERE seq <= $1 ORDER BY seq", last)
		if err != nil {
			yield(ledger.KeptHash{}, err)
			return
		}
		defer rows.Close()

		for rows.Next() {
			var kept ledger.KeptHash
			var hash []byte
			err := rows.Scan(&kept.Sequence, &hash)
			kept.Hash = digest(hash)
			if !yield(kept, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(ledger.KeptHash{}, err)
		}
	}
}

// Prunings is described at [ledger.Pruner].
func (l *Ledger) Prunings(ctx context.Context) ([]ledger.Pruning, error) {
	list, err := prunings(ctx, l.pool, "ORDER BY size")
	if err != nil || len(list) == 0 {
		return nil, l.wrap(ctx, "list the prunings", err)
	}
	damage, err := ledger.Proven(list, hashes(ctx, l.pool, list[len(list)-1].Last))
	if damage != nil {
		return nil, damage
	}
	return list, l.wrap(ctx, "compare the prunings", err)
}

// Cut is described at [ledger.Pruner].
func (l *Ledger) Cut(ctx context.Context, c *ledger.Cut) error {
	return l.transact(ctx, "prune", func(conn *pgxpool.Conn) (*pgx.Batch, error) {
		// Readers continue; other writers wait.
		if _, err := conn.Exec(ctx, "LOCK TABLE ledger_prunings, ledger_receipts IN SHARE ROW EXCLUSIVE MODE"); err != nil {
			return nil, err
		}

		// The ledger must still have what was compared. In the meantime, others may have pruned
		// receipts or added signatures, which make a receipt longer.
		var after, receipts, bytes int64
		err := conn.QueryRow(ctx, `SELECT (SELECT coalesce(max(last), 0) FROM ledger_prunings), count(*), coalesce(sum(length(json)), 0)
FROM ledger_receipts WHERE seq > $1 AND seq <= $2`, c.After, c.Last).Scan(&after, &receipts, &bytes)
		if err != nil {
			return nil, err
		}
		if after != c.After || receipts != c.Receipts || bytes != c.Bytes {
			return nil, ledger.ErrPruneChanged
		}

		// Only the hashes stay, so they must be those of the checkpoint.
		list, err := prunings(ctx, conn, "ORDER BY size")
		if err != nil {
			return nil, err
		}
		damage, err := ledger.Proven(append(list, c.Pruning), hashes(ctx, conn, c.Last))
		if damage != nil {
			return nil, damage
		}
		if err != nil {
			return nil, err
		}

		b := &pgx.Batch{}
		b.Queue("UPDATE ledger_receipts SET json = '' WHERE seq > $1 AND seq <= $2", c.After, c.Last)
		b.Queue("INSERT INTO ledger_prunings (size, after, last, root, checkpoint, archive, digest) VALUES ($1, $2, $3, $4, $5, $6, $7)",
			c.Size, c.After, c.Last, c.Root[:], c.Checkpoint, []byte(c.Archive), c.Digest[:])
		return b, nil
	})
}
