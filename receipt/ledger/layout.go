package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A layout is how the tables of a version are read, by whichever connection.
type layout struct {
	tables atomic.Int64 // their version; a newer program may bring them up to date meanwhile
}

// has reports whether the tables have what a version was the first to have.
func (l *layout) has(version int64) bool { return l.tables.Load() >= version }

// prunedTo is the sequence of the last receipt that was pruned, 0 when none was.
func (l *layout) prunedTo() string {
	if !l.has(prunings) {
		return "0"
	}
	return "ifnull((SELECT last FROM prunings ORDER BY size DESC LIMIT 1), 0)"
}

// subject is the column subject, or what is read in its place.
func (l *layout) subject() string {
	if !l.has(subjects) {
		return subjectOf
	}
	return "subject"
}

// selectRows begins a query of rows r for scan.
func (l *layout) selectRows() string {
	subject := "r.subject"
	if !l.has(subjects) {
		subject = "NULL"
	}
	return "SELECT r.seq, r.position, r.receipt_id, r.task, " + subject + `, r.session, r.issued_at, r.hash, r.previous, r.json,
	s.issuer, s.tenant, s.workspace, s.head, s.count, p.seq, p.hash, ` + l.prunedTo() + `
FROM receipts r LEFT JOIN streams s ON s.id = r.stream LEFT JOIN receipts p ON p.stream = r.stream AND p.position = r.position - 1
`
}

// statement selects what comes after a receipt, up to a last one. A task's receipts
// are in two indexes, each in the order of seq, and none is in both.
func (l *layout) statement(q Query, after, last int64, limit int) (string, []any) {
	where, args := q.conditions(after, last)
	if !q.Pruned {
		where += " AND seq > " + l.prunedTo()
	}
	choice, args := l.choice(q, where, args)
	choice += " ORDER BY seq LIMIT ?"
	return l.selectRows() + "WHERE r.seq IN (" + choice + ") ORDER BY r.seq", append(args, limit)
}

// choice selects the sequences of the rows that a query and conditions name.
func (l *layout) choice(q Query, where string, args []any) (string, []any) {
	choice := "SELECT seq FROM receipts WHERE " + where
	if q.Task != "" {
		choice += " AND task = ? UNION ALL " + choice + " AND " + l.subject() + " = ?"
		args = slices.Concat(args, []any{q.Task}, args, []any{q.Task})
	}
	return choice, args
}

// one returns the one row that a condition names, if it is what was stored.
func (l *layout) one(ctx context.Context, q querier, where string, args ...any) (*stored, error) {
	r, err := l.raw(ctx, q, where, args...)
	if err != nil {
		return nil, err
	}
	return r, l.check(r)
}

// raw is one without a look at what it returns.
func (l *layout) raw(ctx context.Context, q querier, where string, args ...any) (*stored, error) {
	r := new(stored)
	err := r.scan(q.QueryRowContext(ctx, l.selectRows()+where, args...).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	return r, err
}

// check compares a row with the receipt in it and with the rows around it: the
// error is a *DamageError unless it is what was stored. Whether the content of the
// receipt fits its hash is for whoever verifies it.
func (l *layout) check(r *stored) error {
	if err := l.fits(r); err != nil {
		return err
	}
	return r.place()
}

// fits compares a row with the receipt in it.
func (l *layout) fits(r *stored) error {
	if r.pruned() {
		if damage := r.empty(); damage != nil {
			return damage
		}
		return nil
	}

	var own row
	if err := own.read(r.json); err != nil {
		return unreadable(r.id, r.stream, err)
	}

	if !l.has(subjects) {
		r.subject = own.subject
	}

	if columns := r.differences(&own); len(columns) > 0 {
		return &DamageError{FaultRow, r.id, r.stream, otherColumn(columns[0])}
	}
	return nil
}

// head returns a stream's row and head, zero when there is none. What the row says is
// compared with the last receipt: a receipt that is linked to another one's hash
// would be false.
func (l *layout) head(ctx context.Context, q querier, s chain.Stream) (id int64, h chain.Head, err error) {
	if id, h, err = headRow(ctx, q, s); err == nil && id != 0 {
		err = l.ends(ctx, q, id, s, h)
	}
	if err != nil {
		return 0, chain.Head{}, err
	}
	return id, h, nil
}

// ends makes sure that the last receipt of a stream, whose row is id, is its head.
func (l *layout) ends(ctx context.Context, q querier, id int64, s chain.Stream, h chain.Head) error {
	last, err := l.one(ctx, q, "WHERE r.stream = ? AND r.position = ?", id, h.Count)
	switch {
	case errors.Is(err, ErrNotFound):
		return &DamageError{FaultMissing, "", s, fmt.Sprintf("the last receipt of a stream is gone, number %d with the hash %v", h.Count, h.Hash)}
	case err == nil && (last.link.Hash != h.Hash || last.stream != s || last.position != h.Count):
		return &DamageError{string(receipt.CodeHeadMismatch), last.id, s, fmt.Sprintf("it is the last of its stream, whose head is said to be %v", h.Hash)}
	}
	return err
}

// forks reports whether a receipt that was stored before names the same predecessor. A
// row that says something else than its receipt shows nothing.
func (l *layout) forks(ctx context.Context, q querier, r *stored) (bool, error) {
	other, err := l.raw(ctx, q, `WHERE r.seq = (SELECT min(o.seq) FROM receipts o JOIN receipts x ON x.stream = o.stream
	WHERE x.seq = ? AND o.seq < x.seq AND ifnull(o.previous, x'') = ifnull(x.previous, x''))`, r.sequence)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil && l.fits(other) == nil, err
}

// prunedError tells of a row that was pruned.
func (l *layout) prunedError(ctx context.Context, q querier, r *stored) error {
	p, err := scanPruning(q.QueryRowContext(ctx, l.selectPrunings()+" WHERE last >= ? ORDER BY last LIMIT 1", r.sequence).Scan)
	if err != nil {
		return err
	}
	if r.sequence <= p.after {
		return &DamageError{FaultMissing, r.id, r.stream, "it was pruned, and the row that names its archive is gone"}
	}
	return &PrunedError{r.id, r.link.Hash, r.stream, *p}
}

// selectPrunings begins a query of prunings p. In an older version none shows that the one
// before it is gone.
func (l *layout) selectPrunings() string {
	after := "after"
	if !l.has(afters) {
		after = "ifnull((SELECT max(b.last) FROM prunings b WHERE b.size < p.size), 0)"
	}
	return "SELECT size, " + after + ", last, root, checkpoint, archive, digest FROM prunings p"
}

// prunings returns them as their table has them, the first one first.
func (l *layout) prunings(ctx context.Context, q rowQuerier) (list []Pruning, err error) {
	if !l.has(prunings) {
		return nil, nil
	}
	rows, err := q.QueryContext(ctx, l.selectPrunings()+" ORDER BY size")
	if err != nil {
		return nil, err
	}
	defer rows.Close()

	for rows.Next() {
		p, err := scanPruning(rows.Scan)
		if err != nil {
			return nil, err
		}
		list = append(list, *p)
	}
	return list, rows.Err()
}
