package ledger

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/receiptkit/receiptkit/chain"
)

// A Query selects receipts. The zero Query selects all receipts. Results are in the order in which
// the receipts were stored, which is the chain order within each stream; receipts that are stored
// later follow. The issued_at times may not be in this order, because drafts may have their own
// times, and the clocks of several machines differ.
type Query struct {
	Task    string        // the task that is the subject, or identifiers.task_id; "": any
	Session string        // identifiers.session_id; "": any
	Stream  *chain.Stream // nil: any
	From    time.Time     // lower limit for issued_at, inclusive; zero means no limit
	Before  time.Time     // upper limit for issued_at, exclusive; zero means no limit

	// Until ends the selection before the first receipt, by any issuer, that was issued at this
	// time or later. The selection then stays the same while more receipts are stored. Zero: none.
	Until time.Time

	// Pruned also selects receipts without content, which precede all others. It must be set if a
	// list has to be complete, such as the leaves of a tree.
	Pruned bool

	// Sees excludes the streams for which it returns false. Their rows are not even read. Nil:
	// none.
	Sees func(chain.Stream) bool

	// Limit is the maximum number of selected receipts; 0 means no limit.
	Limit int
}

// all reports whether the query selects all receipts that have not been pruned.
func (q *Query) all() bool {
	return q.Task == "" && q.Session == "" && q.Stream == nil && q.Sees == nil && q.From.IsZero() && q.Before.IsZero() && q.Until.IsZero()
}

// Selects reports whether a query selects a row, apart from Until, Pruned, and Limit, which depend
// on other rows.
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

// Check returns a *[Fault] if a row was altered ([Row.Intact]), or if the query does not select the
// row, because a damaged index leads to other rows.
func (q *Query) Check(r *Row) error {
	if err := r.Intact(); err != nil {
		return err
	}
	if !q.Selects(r) {
		return r.misled()
	}
	return nil
}

// List returns a page of a query's results and the next page's cursor, which is "" if there is no
// next page. An empty cursor denotes the beginning. Cursors stay valid forever. They are opaque,
// and may come from untrusted sources.
func List(ctx context.Context, r Reader, q Query, cursor string, limit int) (page []Row, next string, err error) {
	after, err := parseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	if limit < 1 {
		return nil, "", fmt.Errorf("ledger: invalid page size %d: must be at least 1", limit)
	}

	// Reading one receipt beyond the end of the page determines whether there is a next page.
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

// cursorVersion is the first byte of a cursor; the sequence follows in 8 bytes.
const cursorVersion = 1

// parseCursor is the inverse of Cursor.
func parseCursor(cursor string) (after int64, err error) {
	if cursor == "" {
		return 0, nil
	}

	data, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	// encoding/base64 skips line ends
	if err != nil || len(data) != 9 || len(cursor) != base64.RawURLEncoding.EncodedLen(9) || data[0] != cursorVersion {
		return 0, ErrCursor
	}
	return int64(binary.BigEndian.Uint64(data[1:])), nil
}
