package postgres

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A page of a walk ends after this number of receipts, or with the receipt that reaches this number
// of bytes. No connection is held while the caller processes a page.
const (
	pageReceipts = 256
	pageBytes    = 8 << 20
)

// Walk implements [ledger.Reader].
func (l *Ledger) Walk(ctx context.Context, q ledger.Query, after int64) iter.Seq2[ledger.Row, error] {
	return func(yield func(ledger.Row, error) bool) {
		left := q.Limit
		for begun := false; ; begun = true {
			size := pageReceipts
			if q.Limit > 0 {
				size = min(size, left)
			}
			page, err := l.page(ctx, q, after, size)
			if err == nil && begun && !q.Pruned {
				err = l.still(ctx, after)
			}
			if err != nil {
				yield(ledger.Row{}, l.wrap(ctx, "list receipts", err))
				return
			}

			for _, r := range page {
				if err := q.Check(r); err != nil {
					yield(ledger.Row{}, err)
					return
				}
				if !yield(*r, nil) {
					return
				}
				after = r.Sequence
			}
			if left -= len(page); len(page) == 0 || q.Limit > 0 && left == 0 {
				return
			}
		}
	}
}

// still returns an error if a receipt after the given sequence number has been pruned.
func (l *Ledger) still(ctx context.Context, after int64) error {
	var cut int64
	err := l.pool.QueryRow(ctx, "SELECT coalesce(max(last), 0) FROM ledger_prunings").Scan(&cut)
	if err == nil && cut > after {
		return ledger.ErrPruneChanged
	}
	return err
}

// page returns the first rows of a query that follow a sequence number. The lengths of the rows are
// added up without reading the rows.
func (l *Ledger) page(ctx context.Context, q ledger.Query, after int64, size int) ([]*ledger.Row, error) {
	selection, args, err := l.selection(ctx, q, after)
	if err != nil {
		return nil, err
	}
	first := fmt.Sprintf("(SELECT *, sum(length(json)) OVER (ORDER BY seq) - length(json) AS before FROM (%s ORDER BY seq LIMIT %d) selected)", selection, size)
	rows, err := l.pool.Query(ctx, fmt.Sprintf(selectRows, first, fmt.Sprintf("r.before < %d ORDER BY r.seq", pageBytes)), args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

// selection returns a statement that selects the rows of a query that follow a sequence number. The
// receipts of a task are in two indexes, but no receipt is in both.
func (l *Ledger) selection(ctx context.Context, q ledger.Query, after int64) (statement string, args []any, err error) {
	var conditions []string
	add := func(condition string, arg any) {
		args = append(args, arg)
		conditions = append(conditions, fmt.Sprintf(condition, fmt.Sprint("$", len(args))))
	}

	add("seq > %s", after)
	if !q.Pruned {
		conditions = append(conditions, "seq > (SELECT coalesce(max(last), 0) FROM ledger_prunings)")
	}
	if q.Session != "" {
		add("sha256(session) = sha256(%s)", []byte(q.Session))
	}
	if q.Stream != nil {
		add("stream = (SELECT id FROM ledger_streams WHERE name = %s)", nameOf(*q.Stream))
	}
	if q.Sees != nil {
		ids, err := l.visible(ctx, q)
		if err != nil {
			return "", nil, err
		}
		add("stream = ANY (%s)", ids)
	}
	if !q.From.IsZero() {
		add("issued_at >= %s", q.From.UnixMilli())
	}
	if !q.Before.IsZero() {
		add("issued_at < %s", q.Before.UnixMilli())
	}
	if !q.Until.IsZero() {
		add("seq < (SELECT coalesce(min(seq), 9223372036854775807) FROM ledger_receipts WHERE issued_at >= %s)", q.Until.UnixMilli())
	}

	where := "SELECT * FROM ledger_receipts WHERE " + strings.Join(conditions, " AND ")
	if q.Task == "" {
		return where, args, nil
	}
	args = append(args, []byte(q.Task))
	task := fmt.Sprintf("sha256($%d)", len(args))
	return fmt.Sprintf("SELECT * FROM (%[1]s AND sha256(task) = %[2]s UNION ALL %[1]s AND subject <> '' AND sha256(subject) = %[2]s) of_task", where, task), args, nil
}

// visible returns the IDs of the streams that a query can see.
func (l *Ledger) visible(ctx context.Context, q ledger.Query) (ids []int64, err error) {
	ends, err := streams(ctx, l.pool)
	for _, s := range ends {
		if q.Sees(s.Stream) {
			ids = append(ids, s.id)
		}
	}
	return ids, err
}

// streams returns all streams with their heads.
func streams(ctx context.Context, db querier) ([]end, error) {
	rows, err := db.Query(ctx, selectEnds)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanEnd)
}
