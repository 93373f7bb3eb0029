package ledger

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A reader reads stored receipts.
type reader struct{ *database }

// Get is described at [Store]. The result is the requested receipt, its content matches its hash,
// and its row matches the receipt; otherwise, the error is a *[receipt.RefutedError] or a
// *[DamageError]. For a pruned receipt, it is a *[PrunedError].
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

// Linked returns the stored bytes of a receipt for verification: their content may be altered, and
// they may not be a receipt at all. If they belong to another receipt or another position, the
// error is a *[DamageError]; for a pruned receipt, it is a *[PrunedError]. Linked also returns the
// link of the receipt to the others of its stream. The link passes if the receipt follows the one
// before it. It is refuted if it does not, or if an earlier receipt follows the same predecessor.
// The tables prevent that, but not for a program that writes around them. The link of a receipt
// that cannot be read is not checked.
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
	damage, _ := errors.AsType[*DamageError](placed)
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

// StreamOf returns the stream that a receipt was stored in, and whether there is one, without
// reading the receipt.
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
	return &DamageError{FaultFile, r.id, r.stream, "an index leads to it that should not"}
}

// An Entry is a receipt in the ledger.
type Entry struct {
	Sequence int64  // the order in which receipts were stored, from 1; it may have gaps
	Position uint64 // in its stream, from 1
	ID       string // receipt_id
	Hash     canon.Digest
	Stream   chain.Stream
	JSON     []byte // as stored; nil for a pruned receipt
}

// Cursor returns the cursor of the place after the receipt, which List accepts with any query.
func (e *Entry) Cursor() string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64([]byte{cursorVersion}, uint64(e.Sequence)))
}

// span returns the sequence right before the first receipt that can be selected, and that of the
// last one. In a large ledger, receipts of one time are near each other.
func (l *reader) span(ctx context.Context, q Query) (before, last int64, err error) {
	from, until, ok := q.times()
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

// Scan returns the receipts of a query, without pruned ones unless the query selects them. If
// receipts are pruned before Scan has yielded them, it ends with ErrPruneChanged. Receipts that are
// stored in the meantime may be included. An error ends the scan.
func (l *reader) Scan(ctx context.Context, q Query) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		after, last, err := l.span(ctx, q)
		for more, begun := err == nil, false; more; begun = true {
			var entries []Entry
			entries, err = l.list(ctx, q, after, last, scanned)
			if err == nil && begun && !q.Pruned {
				err = l.still(ctx, after)
			}
			if errors.Is(err, ErrPruneChanged) {
				break
			}
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
				after = e.Sequence
			}
			more = err == nil && len(entries) == scanned
		}

		// The entries before an error were already yielded.
		if err != nil {
			yield(Entry{}, err)
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
		return fmt.Errorf("list receipts: %w", ErrPruneChanged)
	}
	return l.wrap("list receipts", err)
}

// list returns the entries after a sequence, up to a last one. With an error, it also returns the
// entries before it.
func (l *reader) list(ctx context.Context, q Query, after, last int64, limit int) (list []Entry, err error) {
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

// List returns a page of a query and the cursor of the next page, which is "" if there is none. An
// empty cursor is the beginning. Cursors stay valid forever; they are opaque, and may be untrusted.
func (l *reader) List(ctx context.Context, q Query, cursor string, limit int) (page []Entry, next string, err error) {
	after, err := parseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	if limit < 1 {
		return nil, "", fmt.Errorf("ledger: a page of %d receipts, expected at least 1", limit)
	}

	// One more receipt than the page holds shows whether there is a next page.
	before, last, err := l.span(ctx, q)
	if err == nil {
		page, err = l.list(ctx, q, max(after, before), last, limit+1)
	}
	if err != nil {
		return nil, "", err
	}
	if len(page) <= limit {
		return page, "", nil
	}

	return page[:limit], page[limit-1].Cursor(), nil
}

// A StreamHead is a stream of the ledger with its head.
type StreamHead struct {
	Stream chain.Stream
	Head   chain.Head
}

// Streams returns the streams of the ledger, in the order of chain.Stream.Compare. Each head is
// compared with the last receipt of its stream.
func (l *reader) Streams(ctx context.Context) ([]StreamHead, error) {
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
	list := make([]StreamHead, len(rows))
	for i, s := range rows {
		list[i] = s.StreamHead
		if err := l.ends(ctx, l.read, s.id, s.Stream, s.Head); err != nil {
			return nil, l.wrap("read the head of a stream", err)
		}
	}

	return list, nil
}

// Prunings returns the prunings of the ledger, the first one first. Each is compared with the kept
// hashes of its receipts. If they do not match its checkpoint, the error is a *[DamageError].
func (l *reader) Prunings(ctx context.Context) ([]Pruning, error) {
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
		err = fault.damage()
	}
	if err != nil {
		return nil, l.wrap("compare the prunings", err)
	}
	return list, nil
}

// CountPruned returns how many of the receipts of a query were pruned.
func (l *reader) CountPruned(ctx context.Context, q Query) (n int64, err error) {
	after, last, err := l.span(ctx, q)
	if err != nil {
		return 0, err
	}

	done, err := l.reading(ctx)
	if err != nil {
		return 0, err
	}
	defer done()

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
	StreamHead
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

// ByHash returns the receipt with a hash. The error is or wraps ErrNotFound, a *[DamageError], or
// an error of reading.
func (l *reader) ByHash(ctx context.Context, hash canon.Digest) (Entry, error) {
	done, err := l.reading(ctx)
	if err != nil {
		return Entry{}, err
	}
	defer done()

	r, err := l.one(ctx, l.read, "WHERE r.hash = ? ORDER BY r.seq LIMIT 1", hash[:])
	if err == nil && r.link.Hash != hash {
		err = misled(r)
	}
	if err != nil {
		return Entry{}, l.wrap("look for a receipt", err)
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
