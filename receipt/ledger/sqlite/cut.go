package sqlite

import (
	"context"
	"database/sql"
	"iter"

	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// Cut is described at [ledger.Pruner]. The file keeps its size. New receipts overwrite the old ones,
// whose bytes are in the file until then.
func (l *Ledger) Cut(ctx context.Context, c *ledger.Cut) error {
	return l.store(ctx, "prune", nil, func(tx *sql.Tx) error { return l.cut(ctx, tx, c) })
}

func (l *Ledger) cut(ctx context.Context, tx *sql.Tx, c *ledger.Cut) error {
	// The ledger must still have what was compared. In the meantime, others may have pruned
	// receipts or added signatures, which make a receipt longer.
	var from, receipts, bytes int64
	err := tx.QueryRowContext(ctx, "SELECT "+l.prunedTo()+", count(*), ifnull(sum(length(json)), 0) FROM receipts WHERE seq > ? AND seq <= ?", c.After, c.Last).Scan(&from, &receipts, &bytes)
	if err != nil {
		return err
	}
	if from != c.After || receipts != c.Receipts || bytes != c.Bytes {
		return ledger.ErrPruneChanged
	}

	// Only the hashes stay, so they must be those of the checkpoint.
	whole := c.Pruning
	whole.After = 0 // as if it were the first pruning
	fault, err := proven(ctx, tx, []ledger.Pruning{whole})
	if err != nil {
		return err
	}
	if fault != nil {
		return fault
	}

	if _, err := tx.ExecContext(ctx, "UPDATE receipts SET json = x'' WHERE seq > ? AND seq <= ?", c.After, c.Last); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO prunings (size, after, last, root, checkpoint, archive, digest) VALUES (?, ?, ?, ?, ?, ?, ?)",
		c.Size, c.After, c.Last, c.Root[:], c.Checkpoint, c.Archive, c.Digest[:])
	return err
}

// proven compares prunings with the kept hashes.
func proven(ctx context.Context, q rowQuerier, list []ledger.Pruning) (*ledger.DamageError, error) {
	if len(list) == 0 {
		return nil, nil
	}
	return ledger.Proven(list, hashes(ctx, q, list[len(list)-1].Last))
}

// hashes yields the hashes of all receipts up to a sequence.
func hashes(ctx context.Context, q rowQuerier, last int64) iter.Seq2[ledger.KeptHash, error] {
	return func(yield func(ledger.KeptHash, error) bool) {
		rows, err := q.QueryContext(ctx, "SELECT seq, hash FROM receipts WHERE seq <= ? ORDER BY seq", last)
		if err != nil {
			yield(ledger.KeptHash{}, err)
			return
		}
		defer rows.Close()

		for rows.Next() {
			var kept ledger.KeptHash
			var hash []byte
			if err := rows.Scan(&kept.Sequence, &hash); err != nil {
				yield(ledger.KeptHash{}, err)
				return
			}
			copy(kept.Hash[:], hash)
			if !yield(kept, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(ledger.KeptHash{}, err)
		}
	}
}
