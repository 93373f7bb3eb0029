package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A reader reads stored receipts.
type reader struct{ *database }

// Get is described at [ledger.Store]. The result is the requested receipt, its content matches its hash,
// and its row matches the receipt; otherwise, the error is a *[receipt.RefutedError] or a
// *[ledger.DamageError]. For a pruned receipt, it is a *[ledger.PrunedError].
func (l *reader) Get(ctx context.Context, receiptID string) (*receipt.Sealed, error) {
	done, err := l.reading(ctx)
	if err != nil {
		return nil, err
	}
	defer done()

	r, err := l.one(ctx, l.read, "WHERE r.receipt_id = ?", receiptID)
	if err == nil && r.id != receiptID {
		err = misled(r)
	}
	if err == nil && r.pruned() {
		err = l.prunedError(ctx, l.read, r)
	}
	if err != nil {
		return nil, l.wrap("read a receipt", err)
	}
	return receipt.ParseSealed(r.json)
}

// Linked is described at [ledger.Locator].
func (l *reader) Linked(ctx context.Context, receiptID string) (json []byte, link receipt.Check, err error) {
	done, err := l.reading(ctx)
	if err != nil {
		return nil, link, err
	}
	defer done()

	r, readable, err := l.found(ctx, receiptID)
	if err != nil {
		return nil, link, err
	}
	if !readable {
		return r.json, receipt.Check{Status: receipt.StatusNotChecked, Code: receipt.CodeLinkNotChecked, Reason: "the receipt cannot be read"}, nil
	}

	// A fork is checked first: of two receipts that name one predecessor, the later one is invalid,
	// regardless of its position.
	forks, err := l.forks(ctx, l.read, r)
	if err != nil {
		return nil, link, l.wrap("read a receipt", err)
	}

	// Clients get these details, so none of them names another receipt.
	placed := r.place()
	damage, _ := errors.AsType[*ledger.DamageError](placed)
	switch {
	case forks:
		return r.json, r.refuted(receipt.CodeChainFork, receipt.CausePredecessorShared, "names a predecessor that another stored receipt names too"), nil
	case damage != nil && damage.Code == string(receipt.CodeChainBreak):
		return r.json, r.refuted(receipt.CodeChainBreak, receipt.CausePredecessorOther, "names a predecessor that is not the one before it in its stream, as it is stored"), nil
	case placed != nil:
		return nil, link, placed
	}

	return r.json, receipt.Check{Status: receipt.StatusPassed}, nil
}

// StreamOf is described at [ledger.Locator].
func (l *reader) StreamOf(ctx context.Context, receiptID string) (s chain.Stream, found bool, err error) {
	done, err := l.reading(ctx)
	if err != nil {
		return s, false, err
	}
	defer done()

	var tenant sql.NullString
	err = l.read.QueryRowContext(ctx, "SELECT s.issuer, s.tenant, s.workspace FROM receipts r JOIN streams s ON s.id = r.stream WHERE r.receipt_id = ?",
		receiptID).Scan(&s.Issuer, &tenant, &s.Workspace)
	if errors.Is(err, sql.ErrNoRows) {
		return chain.Stream{}, false, nil
	}
	s.Tenant, s.HasTenant = tenant.String, tenant.Valid
	return s, err == nil, l.wrap("look for a receipt", err)
}

// found returns the row of a receipt_id. The row matches the receipt in it, unless that cannot be
// read, so that it is not mistaken for another one.
func (l *reader) found(ctx context.Context, receiptID string) (r *stored, readable bool, err error) {
	if r, err = l.raw(ctx, l.read, "WHERE r.receipt_id = ?", receiptID); err != nil {
		return nil, false, l.wrap("read a receipt", err)
	}

	if r.pruned() && r.id == receiptID {
		if err := l.check(r); err != nil {
			return nil, false, err
		}
		return nil, false, l.wrap("read a receipt", l.prunedError(ctx, l.read, r))
	}

	if err := new(row).read(r.json); err != nil {
		return r, false, nil
	}
	if err := l.fits(r); err != nil {
		return nil, false, err
	}

	if r.id != receiptID {
		return nil, false, misled(r)
	}
	return r, true, nil
}

// misled returns the error for an index that led to another row than the requested one.
func misled(r *stored) error {
	return damageOf(ledger.FaultFile, r.id, r.stream, "an index leads to it that should not")
}

// span returns the sequence right before the first receipt that can be selected, and that of the
// last one. In a large ledger, receipts of one time are near each other.
func (l *reader) span(ctx context.Context, q ledger.Query) (before, last int64, err error) {
	from, until, ok := q.Times()
	if !ok && q.Until.IsZero() {
		return 0, math.MaxInt64, nil
	}

	done, err := l.reading(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer done()

	before, last = 0, math.MaxInt64
	if ok {
		var first, end sql.NullInt64
		err = l.read.QueryRowContext(ctx, "SELECT min(seq), max(seq) FROM receipts INDEXED BY receipts_time WHERE issued_at >= ? AND issued_at < ?", from, until).Scan(&first, &end)
		before, last = first.Int64-1, end.Int64
	}

	// The first receipt that is too late ends the selection, regardless of its place in the order
	// of time.
	if err == nil && !q.Until.IsZero() {
		var late sql.NullInt64
		err = l.read.QueryRowContext(ctx, "SELECT min(seq) FROM receipts INDEXED BY receipts_time WHERE issued_at >= ?", q.Until.UnixMilli()).Scan(&late)
		if late.Valid {
			last = min(last, late.Int64-1)
		}
	}
	return before, last, l.wrap("look for a time", err)
}

// scanned is how many receipts a scan reads at a time. It holds no lock and no connection while the
// caller works.
const scanned = 256

// mostAtOnce is the largest limit of a query whose receipts one statement reads.
const mostAtOnce = 1025

// Walk is described at [ledger.Reader].
func (l *reader) Walk(ctx context.Context, q ledger.Query, after int64) iter.Seq2[ledger.Entry, error] {
	return func(yield func(ledger.Entry, error) bool) {
		before, last, err := l.span(ctx, q)
		after, left := max(after, before), math.MaxInt
		if q.Limit > 0 {
			left = q.Limit
		}

		// A page of up to scanned receipts is read by one statement.
		for more, begun := err == nil, false; more; begun = true {
			limit := left
			if left > mostAtOnce {
				limit = scanned
			}

			var entries []ledger.Entry
			entries, err = l.list(ctx, query{Query: q}, after, last, limit)
			if err == nil && begun && !q.Pruned {
				err = l.still(ctx, after)
			}
			if errors.Is(err, ledger.ErrPruneChanged) {
				break
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
				after = e.Sequence
			}
			left -= len(entries)
			more = err == nil && len(entries) == limit && left > 0
		}

		// The entries before an error were already yielded.
		if err != nil {
			yield(ledger.Entry{}, err)
		}
	}
}

// still makes sure that no receipt after a sequence was pruned.
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
	return l.wrap("list receipts", err)
}

// list returns the entries after a sequence, up to a last one. With an error, it also returns the
// entries before it.
func (l *reader) list(ctx context.Context, q query, after, last int64, limit int) (list []ledger.Entry, err error) {
	done, err := l.reading(ctx)
	if err != nil {
		return nil, err
	}
	defer done()

	// Streams may be added while a list is read, so sees is called each time.
	if q.Sees != nil {
		if q.seen, err = visible(ctx, l.read, q.Sees); err != nil {
			return nil, l.wrap("list receipts", err)
		}
	}

	statement, args := l.statement(q, after, last, limit)
	rows, err := l.read.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, l.wrap("list receipts", err)
	}
	defer rows.Close()

	for rows.Next() {
		var r stored
		err := r.scan(rows.Scan)
		if err == nil {
			err = l.check(&r)
		}
		if err == nil {
			err = q.selects(&r)
		}
		if err != nil {
			return list, l.wrap("list receipts", err)
		}
		list = append(list, r.entry())
	}

	return list, l.wrap("list receipts", rows.Err())
}

// Streams is described at [ledger.Reader].
func (l *reader) Streams(ctx context.Context) ([]ledger.StreamHead, error) {
	done, err := l.reading(ctx)
	if err != nil {
		return nil, err
	}
	defer done()

	rows, err := streamRows(ctx, l.read)
	if err != nil {
		return nil, l.wrap("list the streams", err)
	}

	// A head is returned only if it is that of the last receipt of its stream.
	list := make([]ledger.StreamHead, len(rows))
	for i, s := range rows {
		list[i] = s.StreamHead
		if err := l.ends(ctx, l.read, s.id, s.Stream, s.Head); err != nil {
			return nil, l.wrap("read the head of a stream", err)
		}
	}

	return list, nil
}

// Prunings is described at [ledger.Pruner].
func (l *reader) Prunings(ctx context.Context) ([]ledger.Pruning, error) {
	done, err := l.reading(ctx)
	if err != nil {
		return nil, err
	}
	defer done()

	list, err := l.prunings(ctx, l.read)
	if err != nil {
		return nil, l.wrap("list the prunings", err)
	}
	fault, err := proven(ctx, l.read, list)
	if err == nil && fault != nil {
		err = fault
	}
	if err != nil {
		return nil, l.wrap("compare the prunings", err)
	}
	return list, nil
}

// CountPruned is described at [ledger.Locator].
func (l *reader) CountPruned(ctx context.Context, selected ledger.Query) (n int64, err error) {
	after, last, err := l.span(ctx, selected)
	if err != nil {
		return 0, err
	}

	done, err := l.reading(ctx)
	if err != nil {
		return 0, err
	}
	defer done()

	q := query{Query: selected}
	if q.Sees != nil {
		if q.seen, err = visible(ctx, l.read, q.Sees); err != nil {
			return 0, l.wrap("count pruned receipts", err)
		}
	}

	where, args := q.conditions(after, last)
	choice, args := l.choice(q, where+" AND seq <= "+l.prunedTo(), args)
	err = l.read.QueryRowContext(ctx, "SELECT count(*) FROM ("+choice+")", args...).Scan(&n)
	return n, l.wrap("count pruned receipts", err)
}

type streamRow struct {
	id int64
	ledger.StreamHead
}

// streamRows returns the streams as their table has them.
func streamRows(ctx context.Context, db *sql.DB) (list []streamRow, err error) {
	rows, err := db.QueryContext(ctx, "SELECT id, issuer, tenant, workspace, head, count FROM streams ORDER BY issuer, tenant IS NOT NULL, tenant, workspace")
	if err != nil {
		return nil, err
	}
	defer rows.Close()

	// A tenant that is NULL is absent; an empty one is a different stream.
	for rows.Next() {
		var s streamRow
		var tenant sql.NullString
		var hash []byte
		if err := rows.Scan(&s.id, &s.Stream.Issuer, &tenant, &s.Stream.Workspace, &hash, &s.Head.Count); err != nil {
			return nil, err
		}
		s.Stream.Tenant, s.Stream.HasTenant = tenant.String, tenant.Valid
		copy(s.Head.Hash[:], hash)
		list = append(list, s)
	}

	return list, rows.Err()
}

// ByHash is described at [ledger.Reader].
func (l *reader) ByHash(ctx context.Context, hash canon.Digest) (ledger.Entry, error) {
	done, err := l.reading(ctx)
	if err != nil {
		return ledger.Entry{}, err
	}
	defer done()

	r, err := l.one(ctx, l.read, "WHERE r.hash = ? ORDER BY r.seq LIMIT 1", hash[:])
	if err == nil && r.link.Hash != hash {
		err = misled(r)
	}
	if err != nil {
		return ledger.Entry{}, l.wrap("look for a receipt", err)
	}
	return r.entry(), nil
}

// visible returns the IDs of the streams for which sees returns true.
func visible(ctx context.Context, db *sql.DB, sees func(chain.Stream) bool) (ids []int64, err error) {
	rows, err := streamRows(ctx, db)
	for _, s := range rows {
		if sees(s.Stream) {
			ids = append(ids, s.id)
		}
	}
	return ids, err
}

func scanPruning(scan func(...any) error) (*ledger.Pruning, error) {
	p := new(ledger.Pruning)
	var root, digest []byte
	if err := scan(&p.Size, &p.After, &p.Last, &root, &p.Checkpoint, &p.Archive, &digest); err != nil {
		return nil, err
	}
	copy(p.Root[:], root)
	copy(p.Digest[:], digest)
	return p, nil
}
