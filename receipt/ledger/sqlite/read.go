package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A reader reads stored receipts.
type reader struct{ *database }

// condition returns the SQL condition for the row that a key selects, and reports whether such a
// row can exist.
func condition(k ledger.Key) (where string, args []any, ok bool) {
	var none ledger.Key
	switch {
	case k.ID != "":
		return "WHERE r.receipt_id = ?", []any{k.ID}, true
	case k.Hash != none.Hash:
		return "WHERE r.hash = ? ORDER BY r.seq LIMIT 1", []any{k.Hash[:]}, true
	case k.Position > 0:
		return "WHERE r.stream = (SELECT id FROM streams WHERE " + byStream + ") AND r.position = ?", append(streamArgs(k.Stream), k.Position), true
	case k.Rival > 0:
		return `WHERE r.seq = (SELECT min(o.seq) FROM receipts o JOIN receipts x ON x.stream = o.stream
	WHERE x.seq = ? AND o.seq < x.seq AND ifnull(o.previous, x'') = ifnull(x.previous, x''))`, []any{k.Rival}, true
	}
	return "", nil, false
}

// Find implements [ledger.Store].
func (l *reader) Find(ctx context.Context, k ledger.Key) (*ledger.Row, error) {
	done, err := l.reading(ctx)
	if err != nil {
		return nil, err
	}
	defer done()

	where, args, ok := condition(k)
	if !ok {
		return nil, ledger.ErrNotFound
	}
	if k.Sees != nil {
		if err := l.sees(ctx, k, where, args); err != nil {
			return nil, l.wrap(ctx, "look for a receipt", err)
		}
	}

	r, err := l.one(ctx, l.read, where, args...)
	if k.Position > 0 && damages(ctx, err) && !errors.Is(err, ledger.ErrNotFound) {
		return l.alone(ctx, k, where, args)
	}
	return r, l.wrap(ctx, "read a receipt", err)
}

// sees returns ErrNotFound if a key excludes the stream of the row.
func (l *reader) sees(ctx context.Context, k ledger.Key, where string, args []any) error {
	streams, err := collect(ctx, l.read, func(scan scanner) (s chain.Stream, err error) {
		var tenant sql.NullString
		err = scan(&s.Issuer, &tenant, &s.Workspace)
		s.Tenant, s.HasTenant = tenant.String, tenant.Valid
		return s, err
	}, "SELECT s.issuer, s.tenant, s.workspace FROM receipts r JOIN streams s ON s.id = r.stream "+where, args...)
	if err == nil && (len(streams) == 0 || !k.Sees(streams[0])) {
		err = ledger.ErrNotFound
	}
	return err
}

// alone returns a row without its place, because an adjacent row may be the one that cannot be
// read. If the row itself cannot be read, its ID may still be in an index.
func (l *reader) alone(ctx context.Context, k ledger.Key, where string, args []any) (*ledger.Row, error) {
	rows, err := collect(ctx, l.read, func(scan scanner) (*ledger.Row, error) { return scanColumns(scan) }, l.columns()+" FROM receipts r "+where, args...)
	r, err := first(rows, err)
	if err == nil {
		r.Stream = k.Stream
		return r, nil
	}
	if !damages(ctx, err) || errors.Is(err, ledger.ErrNotFound) {
		return nil, l.wrap(ctx, "read a receipt", err)
	}

	f := &ledger.Fault{Code: ledger.FaultUnreadable, Stream: k.Stream, Position: k.Position, Detail: err.Error()}
	l.read.QueryRowContext(ctx, "SELECT receipt_id FROM receipts INDEXED BY sqlite_autoindex_receipts_1 WHERE +seq = (SELECT seq FROM receipts r INDEXED BY receipts_place "+where+")", args...).Scan(&f.ID)
	return nil, f
}

// span returns the sequence number before the first receipt that a query can select and the
// sequence number of the last receipt that it can select. In a large ledger, receipts with similar
// times are close together.
func (l *reader) span(ctx context.Context, q ledger.Query) (before, last int64, err error) {
	timed := !q.From.IsZero() || !q.Before.IsZero()
	if !timed && q.Until.IsZero() {
		return 0, math.MaxInt64, nil
	}

	done, err := l.reading(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer done()

	before, last = 0, math.MaxInt64
	if timed {
		from, until := int64(math.MinInt64), int64(math.MaxInt64)
		if !q.From.IsZero() {
			from = q.From.UnixMilli()
		}
		if !q.Before.IsZero() {
			until = q.Before.UnixMilli()
		}
		var first, end sql.NullInt64
		err = l.read.QueryRowContext(ctx, "SELECT min(seq), max(seq) FROM receipts INDEXED BY receipts_time WHERE issued_at >= ? AND issued_at < ?", from, until).Scan(&first, &end)
		before, last = first.Int64-1, end.Int64
	}

	// The first receipt that was issued too late ends the selection, even if later receipts were
	// issued earlier.
	if err == nil && !q.Until.IsZero() {
		var late sql.NullInt64
		err = l.read.QueryRowContext(ctx, "SELECT min(seq) FROM receipts INDEXED BY receipts_time WHERE issued_at >= ?", q.Until.UnixMilli()).Scan(&late)
		if late.Valid {
			last = min(last, late.Int64-1)
		}
	}
	return before, last, l.wrap(ctx, "look for a time", err)
}

// scanned is the number of receipts that a scan reads in one step. While the caller processes these
// receipts, the scan holds no lock and no connection.
const scanned = 256

// mostAtOnce is the highest query limit for which all receipts are read with a single statement.
const mostAtOnce = 1025

// Walk implements [ledger.Reader].
func (l *reader) Walk(ctx context.Context, q ledger.Query, after int64) iter.Seq2[ledger.Row, error] {
	return func(yield func(ledger.Row, error) bool) {
		before, last, err := l.span(ctx, q)
		after, left := max(after, before), math.MaxInt
		if q.Limit > 0 {
			left = q.Limit
		}

		// A page of up to scanned receipts is read with a single statement.
		for more, begun := err == nil, false; more; begun = true {
			limit := left
			if left > mostAtOnce {
				limit = scanned
			}

			var rows []*ledger.Row
			rows, err = l.list(ctx, query{Query: q}, after, last, limit)
			if err == nil && begun && !q.Pruned {
				err = l.still(ctx, after)
			}
			if errors.Is(err, ledger.ErrPruneChanged) {
				break
			}
			for _, r := range rows {
				if !yield(*r, nil) {
					return
				}
				after = r.Sequence
			}
			left -= len(rows)
			more = err == nil && len(rows) == limit && left > 0
		}

		// The rows before the error have already been yielded.
		if err != nil {
			yield(ledger.Row{}, err)
		}
	}
}

// still returns ErrPruneChanged if a receipt after the given sequence number has been pruned.
func (l *reader) still(ctx context.Context, after int64) error {
	done, err := l.reading(ctx)
	if err != nil {
		return err
	}
	defer done()

	var cut int64
	err = l.read.QueryRowContext(ctx, "SELECT "+l.prunedTo()).Scan(&cut)
	if err == nil && cut > after {
		return fmt.Errorf("list receipts: %w", ledger.ErrPruneChanged)
	}
	return l.wrap(ctx, "list receipts", err)
}

// list returns the rows after a sequence number, up to the sequence number last. If there is an
// error, it also returns the rows that it read before the error.
func (l *reader) list(ctx context.Context, q query, after, last int64, limit int) (list []*ledger.Row, err error) {
	done, err := l.reading(ctx)
	if err != nil {
		return nil, err
	}
	defer done()

	// Streams may be added while receipts are listed, so Sees is called for them each time.
	if q.Sees != nil {
		streams, err := streamRows(ctx, l.read)
		if err != nil {
			return nil, l.wrap(ctx, "list receipts", err)
		}
		for _, s := range streams {
			if q.Sees(s.Stream) {
				q.seen = append(q.seen, s.id)
			}
		}
	}

	statement, args := l.statement(q, after, last, limit)
	rows, err := collect(ctx, l.read, scanRow, statement, args...)
	for i, r := range rows {
		if err := q.Check(r); err != nil {
			return rows[:i], err
		}
	}
	return rows, l.wrap(ctx, "list receipts", err)
}

// Streams implements [ledger.Reader].
func (l *reader) Streams(ctx context.Context) ([]ledger.StreamHead, error) {
	done, err := l.reading(ctx)
	if err != nil {
		return nil, err
	}
	defer done()

	rows, err := streamRows(ctx, l.read)
	if err != nil {
		return nil, l.wrap(ctx, "list the streams", err)
	}
	list := make([]ledger.StreamHead, len(rows))
	for i, s := range rows {
		list[i] = s.StreamHead
	}
	return list, nil
}

// Prunings implements [ledger.Pruner].
func (l *reader) Prunings(ctx context.Context) ([]ledger.Pruning, error) {
	done, err := l.reading(ctx)
	if err != nil {
		return nil, err
	}
	defer done()

	list, err := l.prunings(ctx, l.read)
	return list, l.wrap(ctx, "list the prunings", err)
}

// Hashes implements [ledger.Pruner].
func (l *reader) Hashes(ctx context.Context, last int64) iter.Seq2[ledger.Row, error] {
	return func(yield func(ledger.Row, error) bool) {
		done, err := l.reading(ctx)
		if err != nil {
			yield(ledger.Row{}, err)
			return
		}
		defer done()
		for r, err := range sequence(ctx, l.read, last) {
			if !yield(r, l.wrap(ctx, "compare the prunings", err)) {
				return
			}
		}
	}
}
