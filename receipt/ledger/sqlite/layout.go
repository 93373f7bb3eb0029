package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A layout describes how to read the tables of one version over any connection.
type layout struct {
	tables atomic.Int64 // version of the tables; a newer program may migrate them at any time
}

// has reports whether the tables have a feature that was introduced in the given version.
func (l *layout) has(version int64) bool { return l.tables.Load() >= version }

// prunedTo returns an SQL expression for the sequence number of the last pruned receipt, or 0.
func (l *layout) prunedTo() string {
	if !l.has(prunings) {
		return "0"
	}
	return "ifnull((SELECT last FROM prunings ORDER BY size DESC LIMIT 1), 0)"
}

// subject returns the column subject of rows r, or an expression that replaces the column.
func (l *layout) subject() string {
	if !l.has(subjects) {
		return subjectOf
	}
	return "r.subject"
}

// columns returns the columns of rows r.
func (l *layout) columns() string {
	return "SELECT r.seq, r.position, r.receipt_id, r.task, " + l.subject() + ", r.session, r.issued_at, r.hash, r.previous, r.json, " + l.prunedTo()
}

// selectRows returns the beginning of a query whose result rows scanRow can read.
func (l *layout) selectRows() string {
	return l.columns() + `, s.issuer, s.tenant, s.workspace, s.head, s.count, p.seq, p.hash
FROM receipts r LEFT JOIN streams s ON s.id = r.stream LEFT JOIN receipts p ON p.stream = r.stream AND p.position = r.position - 1
`
}

// A scanner reads the columns of a result row.
type scanner func(...any) error

// scanRow reads a row from the result of a query that begins with selectRows.
func scanRow(scan scanner) (*ledger.Row, error) {
	var issuer, tenant, workspace sql.NullString
	var count, before sql.NullInt64
	var head, last []byte
	r, err := scanColumns(scan, &issuer, &tenant, &workspace, &head, &count, &before, &last)
	if err != nil {
		return nil, err
	}

	// If a row belongs to no stream, the name of the stream is NULL.
	r.Stream = chain.Stream{Issuer: issuer.String, Tenant: tenant.String, HasTenant: tenant.Valid, Workspace: workspace.String}
	r.Place = &ledger.Place{Head: chain.Head{Hash: digest(head), Count: uint64(count.Int64)}, Before: before.Int64, Previous: digest(last)}
	return r, nil
}

// scanColumns reads the columns of a row, followed by further columns.
func scanColumns(scan scanner, more ...any) (*ledger.Row, error) {
	r := new(ledger.Row)
	var task, subject, session sql.NullString
	var hash, previous []byte
	var cut int64
	columns := []any{&r.Sequence, &r.Position, &r.ID, &task, &subject, &session, &r.IssuedAt, &hash, &previous, &r.JSON, &cut}
	if err := scan(append(columns, more...)...); err != nil {
		return nil, err
	}

	// A missing ID is NULL, and so is the predecessor of a first receipt.
	r.Task, r.Subject, r.Session = task.String, subject.String, session.String
	r.Link = chain.Link{First: previous == nil, Hash: digest(hash), Previous: digest(previous)}
	r.Pruned = r.Sequence <= cut
	if len(r.JSON) == 0 {
		r.JSON = nil
	}
	return r, nil
}

// digest converts a hash from its form in a table.
func digest(data []byte) (d canon.Digest) {
	copy(d[:], data)
	return d
}

// null returns the column value for a string that may be missing.
func null(text string) sql.NullString { return sql.NullString{String: text, Valid: text != ""} }

// byStream is the condition for the row of a stream, and streamArgs returns the arguments for this
// condition.
const byStream = "issuer = ? AND (tenant IS NULL) = ? AND ifnull(tenant, '') = ? AND workspace = ?"

func streamArgs(s chain.Stream) []any { return []any{s.Issuer, !s.HasTenant, s.Tenant, s.Workspace} }

// errValue indicates that a table contains a value that is not valid in its column.
var errValue = errors.New("unexpected value")

// collect runs a query and reads its rows. If there is an error, it also returns the rows that it
// read before the error.
func collect[T any](ctx context.Context, q rowQuerier, scan func(scanner) (T, error), query string, args ...any) (list []T, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()

	for rows.Next() {
		v, err := scan(rows.Scan)
		if err != nil {
			return list, fmt.Errorf("%w: %w", errValue, err)
		}
		list = append(list, v)
	}
	return list, rows.Err()
}

// one returns the only row that matches a condition.
func (l *layout) one(ctx context.Context, q rowQuerier, where string, args ...any) (*ledger.Row, error) {
	rows, err := collect(ctx, q, scanRow, l.selectRows()+where, args...)
	return first(rows, err)
}

func first(rows []*ledger.Row, err error) (*ledger.Row, error) {
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, ledger.ErrNotFound
	}
	return rows[0], nil
}

// statement returns a statement that selects the rows after a sequence number, up to the sequence
// number last. The receipts of a task are in two indexes, each of which is sorted by seq, and no
// receipt is in both.
func (l *layout) statement(q query, after, last int64, limit int) (string, []any) {
	where, args := q.conditions(after, last)
	if !q.Pruned {
		where += " AND seq > " + l.prunedTo()
	}

	choice := "SELECT seq FROM receipts r WHERE " + where
	if q.Task != "" {
		choice += " AND task = ? UNION ALL " + choice + " AND " + l.subject() + " = ?"
		args = slices.Concat(args, []any{q.Task}, args, []any{q.Task})
	}
	return l.selectRows() + "WHERE r.seq IN (" + choice + " ORDER BY seq LIMIT ?) ORDER BY r.seq", append(args, limit)
}

// head returns the head of a stream, or the zero Head if there is no such stream. The head is
// compared with the last receipt, because a receipt with a link to any other hash would be invalid.
func (l *layout) head(ctx context.Context, q rowQuerier, s chain.Stream) (h chain.Head, err error) {
	row, hash, err := headRow(ctx, q, s)
	if err != nil || row.id == 0 {
		return chain.Head{}, err
	}
	if err := row.Check(hash); err != nil {
		return chain.Head{}, err
	}

	last, err := l.one(ctx, q, "WHERE r.stream = ? AND r.position = ?", row.id, row.Head.Count)
	if err == nil {
		err = last.Intact()
	}
	if err != nil {
		return chain.Head{}, err
	}
	return row.Head, nil
}

// headRow returns the row of a stream and the hash of the last receipt in the stream. If there is
// no such stream, the row contains only its name.
func headRow(ctx context.Context, q rowQuerier, s chain.Stream) (row streamRow, last []byte, err error) {
	row.Stream = s
	scan := func(scan scanner) (head []byte, err error) {
		err = scan(&row.id, &head, &row.Head.Count, &last)
		row.Head.Hash = digest(head)
		return head, err
	}
	_, err = collect(ctx, q, scan, "SELECT id, head, count, (SELECT hash FROM receipts WHERE stream = streams.id AND position = streams.count) FROM streams WHERE "+byStream, streamArgs(s)...)
	return row, last, err
}

type streamRow struct {
	id int64
	ledger.StreamHead
}

// streamRows returns the rows in the table of streams.
func streamRows(ctx context.Context, q rowQuerier) ([]streamRow, error) {
	return collect(ctx, q, scanStream, `SELECT id, issuer, tenant, workspace, head, count, ifnull((SELECT max(position) FROM receipts WHERE stream = streams.id), 0)
FROM streams ORDER BY issuer, tenant IS NOT NULL, tenant, workspace`)
}

// scanStream reads a result row of streamRows. NULL means that there is no tenant; a stream with an
// empty tenant is a different stream.
func scanStream(scan scanner) (s streamRow, err error) {
	var tenant sql.NullString
	var hash []byte
	err = scan(&s.id, &s.Stream.Issuer, &tenant, &s.Stream.Workspace, &hash, &s.Head.Count, &s.Last)
	s.Stream.Tenant, s.Stream.HasTenant, s.Head.Hash = tenant.String, tenant.Valid, digest(hash)
	return s, err
}

// prunings returns the prunings in the table of prunings, oldest first. In tables of an older
// version, a row does not show whether the row before it is missing.
func (l *layout) prunings(ctx context.Context, q rowQuerier) ([]ledger.Pruning, error) {
	if !l.has(prunings) {
		return nil, nil
	}
	after := "after"
	if !l.has(afters) {
		after = "ifnull((SELECT max(b.last) FROM prunings b WHERE b.size < p.size), 0)"
	}
	return collect(ctx, q, scanPruning, "SELECT size, "+after+", last, root, checkpoint, archive, digest FROM prunings p ORDER BY size")
}

func scanPruning(scan scanner) (p ledger.Pruning, err error) {
	var root, sum []byte
	err = scan(&p.Size, &p.After, &p.Last, &root, &p.Checkpoint, &p.Archive, &sum)
	copy(p.Root[:], root)
	p.Digest = digest(sum)
	return p, err
}

// sequence yields the sequence numbers and hashes of all receipts up to the sequence number last.
func sequence(ctx context.Context, q rowQuerier, last int64) iter.Seq2[ledger.Row, error] {
	return func(yield func(ledger.Row, error) bool) {
		rows, err := q.QueryContext(ctx, "SELECT seq, hash FROM receipts WHERE seq <= ? ORDER BY seq", last)
		if err != nil {
			yield(ledger.Row{}, err)
			return
		}
		defer rows.Close()

		for rows.Next() {
			var r ledger.Row
			var hash []byte
			if err := rows.Scan(&r.Sequence, &hash); err != nil {
				yield(ledger.Row{}, fmt.Errorf("%w: %w", errValue, err))
				return
			}
			if r.Hash = digest(hash); !yield(r, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(ledger.Row{}, err)
		}
	}
}
