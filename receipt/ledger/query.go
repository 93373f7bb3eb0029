package ledger

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/receiptkit/receiptkit/chain"
)

// A Query selects receipts in a ledger. The zero Query selects all receipts. Results are in the
// order in which the receipts were stored, which is also the order of each chain. Receipts that are
// stored later come after all others. The issued_at times may be in a different order, because
// drafts may contain their own times, and the clocks of several machines differ.
type Query struct {
	Task    string        // the task, which is the subject or identifiers.task_id; "" selects any task
	Session string        // identifiers.session_id; "": any
	Stream  *chain.Stream // nil: any
	From    time.Time     // inclusive lower bound on issued_at; zero means no bound
	Before  time.Time     // exclusive upper bound on issued_at; zero means no bound

	// Until ends the selection before the first receipt, by any issuer, that was issued at this
	// time or later. The selection then remains the same when further receipts are stored. Zero:
	// none.
	Until time.Time

	// Pruned also selects pruned receipts, which have no content and come before all others. Pruned
	// must be set if the list has to be complete, for example to compute the leaves of a tree.
	Pruned bool

	// Streams for which Sees returns false are excluded. The rows of these streams are not even
	// read. If Sees is nil, no streams are excluded.
	Sees func(chain.Stream) bool

	// Limit is the maximum number of receipts that are selected. If Limit is not
	// positive, there is no limit.
	Limit int
}

// all reports whether the query selects all receipts that have not been pruned.
func (q *Query) all() bool {
	return q.Task == "" && q.Session == "" && q.Stream == nil && q.Sees == nil && q.From.IsZero() && q.Before.IsZero() && q.Until.IsZero()
}

// Selects reports whether the query selects a row. It ignores Pruned, and also Until and Limit,
// which depend on other rows.
func (q *Query) Selects(r *Row) bool {
	switch {
	case q.Task != "" && r.Task != q.Task && r.Subject != q.Task,
		q.Session != "" && r.Session != q.Session,
		q.Stream != nil && r.Stream != *q.Stream,
		q.Sees != nil && !q.Sees(r.Stream),
		!q.From.IsZero() && r.IssuedAt < q.From.UnixMilli(),
		!q.Before.IsZero() && r.IssuedAt >= q.Before.UnixMilli():
		return false
	}
	return true
}

// Check returns a *[Fault] if a row was altered (see [Row.Intact]) or if the query does not select
// the row, which can happen if an index is damaged.
func (q *Query) Check(r *Row) error {
	if err := r.Intact(); err != nil {
		return err
	}
	if !q.Selects(r) {
		return r.misled()
	}
	return nil
}

// List returns a page of the results of a query, and a cursor for the next page, or "" if there is
// no next page. An empty cursor means the first page. A page has at most limit receipts; the Limit of
// the query is ignored. Cursors remain valid forever. They are opaque, and may come from an untrusted
// source.
func List(ctx context.Context, r Reader, q Query, cursor string, limit int) (page []Row, next string, err error) {
	after, err := parseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	if limit < 1 {
		return nil, "", fmt.Errorf("ledger: invalid page size %d: must be at least 1", limit)
	}

	// One receipt more than the page needs is read to determine whether there is a next page.
	limit = min(limit, math.MaxInt-1)
	q.Limit = limit + 1
	for e, err := range r.Walk(ctx, q, after) {
		if err != nil {
			return nil, "", err
		}
		page = append(page, e)
	}
	if len(page) <= limit {
		return page, "", nil
	}

	return page[:limit], page[limit-1].Cursor(), nil
}

// ErrCursor indicates that a cursor was not created by List.
var ErrCursor = errors.New("ledger: cursor refers to no receipt")

// cursorVersion is the first byte of a cursor, which is followed by the sequence number in eight
// bytes.
const cursorVersion = 1

// parseCursor is the inverse of Cursor.
func parseCursor(cursor string) (after int64, err error) {
	if cursor == "" {
		return 0, nil
	}

	data, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	// encoding/base64 ignores line breaks
	if err != nil || len(data) != 9 || len(cursor) != base64.RawURLEncoding.EncodedLen(9) || data[0] != cursorVersion {
		return 0, ErrCursor
	}
	return int64(binary.BigEndian.Uint64(data[1:])), nil
}
