package ledger

import (
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/chain"
)

// A Query selects receipts. The zero Query selects all. The result is in the order in which the
// receipts were stored, which in each stream is the order of its chain; receipts that are stored
// later follow. issued_at has no such order, because drafts may have their own times, and clocks of
// several machines differ.
type Query struct {
	Task    string        // the subject, or identifiers.task_id; "": any
	Session string        // identifiers.session_id; "": any
	Stream  *chain.Stream // nil: any
	From    time.Time     // issued_at is not earlier; zero: any
	Before  time.Time     // issued_at is earlier; zero: any

	// Until ends the selection before the first receipt that was issued at this time or later, by
	// any issuer, so that the selection does not change while others are stored. Zero: none.
	Until time.Time

	// Pruned also selects receipts without content, which come before all others. It is set where a
	// list must be complete, such as the leaves of a tree.
	Pruned bool

	// Sees excludes the streams for which it returns false: their rows are not even read. Nil:
	// none.
	Sees func(chain.Stream) bool

	seen []int64 // the streams that it sees
}

// conditions returns the conditions of rows after one, up to a last one.
func (q Query) conditions(after, last int64) (where string, args []any) {
	conditions, args := []string{"seq > ? AND seq <= ?"}, []any{after, last}
	add := func(condition string, arg ...any) {
		conditions, args = append(conditions, condition), append(args, arg...)
	}
	if q.Session != "" {
		add("session = ?", q.Session)
	}
	if s := q.Stream; s != nil {
		add("stream = (SELECT id FROM streams WHERE issuer = ? AND (tenant IS NULL) = ? AND ifnull(tenant, '') = ? AND workspace = ?)",
			s.Issuer, !s.HasTenant, s.Tenant, s.Workspace)
	}

	// Rows that may not be seen are not even read, because the time for that would reveal them.
	if q.Sees != nil {
		add("stream IN (SELECT value FROM json_each(?))", numbers(q.seen))
	}
	if from, before, ok := q.times(); ok {
		add("+issued_at >= ? AND +issued_at < ?", from, before) // +: not by that index, which has another order
	}

	return strings.Join(conditions, " AND "), args
}

// times returns the bounds of issued_at, and whether there are any.
func (q Query) times() (from, before int64, ok bool) {
	from, before = math.MinInt64, math.MaxInt64
	if !q.From.IsZero() {
		from = q.From.UnixMilli()
	}
	if !q.Before.IsZero() {
		before = q.Before.UnixMilli()
	}
	return from, before, !q.From.IsZero() || !q.Before.IsZero()
}

// selects compares a row with the query, because a damaged index leads to other rows.
func (q Query) selects(r *stored) error {
	from, before, timed := q.times()
	is := func(column sql.NullString, wanted string) bool { return column.Valid && column.String == wanted }
	switch {
	case q.Task != "" && !is(r.task, q.Task) && !is(r.subject, q.Task),
		q.Session != "" && !is(r.session, q.Session),
		q.Stream != nil && r.stream != *q.Stream,
		timed && (r.issuedAt < from || r.issuedAt >= before):
		return misled(r)
	}
	return nil
}

// ErrCursor indicates that List did not return a cursor.
var ErrCursor = errors.New("ledger: no such place in a list")

// cursorVersion is the first byte of a cursor; a sequence of 8 bytes follows.
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

// numbers formats a list for json_each of SQLite.
func numbers(list []int64) string {
	text, _ := json.Marshal(append([]int64{}, list...)) // numbers are never refused
	return string(text)
}
