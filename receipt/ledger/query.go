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

// A Query selects receipts. The zero Query selects all. What is selected is in the
// order in which it was stored, which in each stream is that of its chain; what is
// stored later comes after it. issued_at has no such order: drafts may bring their
// own, and clocks of several machines differ.
type Query struct {
	Task    string        // that is the subject, or in identifiers.task_id; "": any
	Session string        // identifiers.session_id; "": any
	Stream  *chain.Stream // nil: any
	From    time.Time     // issued_at is not earlier; zero: any
	Before  time.Time     // issued_at is earlier; zero: any

	// Until ends before the first receipt of all that was issued at this time or later,
	// whoever issued it: what it selects stays the same while others are stored. Zero: none.
	Until time.Time

	// Pruned selects receipts without content, too, which come before all others. Where a
	// list has to be whole, as the leaves of a tree have, it is set.
	Pruned bool

	// Sees leaves out the streams of which it returns false: their rows are not even
	// read. Nil: none.
	Sees func(chain.Stream) bool

	seen []int64 // the streams that it sees
}

// conditions are those of rows after one, up to a last one.
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

	// What may not be seen is not even read: how long that takes would tell of it.
	if q.Sees != nil {
		add("stream IN (SELECT value FROM json_each(?))", numbers(q.seen))
	}
	if from, before, ok := q.times(); ok {
		add("+issued_at >= ? AND +issued_at < ?", from, before) // +: not by that index, whose order is another
	}

	return strings.Join(conditions, " AND "), args
}

// times are the bounds of issued_at, and whether there are any.
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

// selects compares a row with what was asked for: an index that is damaged leads to
// other rows.
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

// ErrCursor says that a cursor is not one that List returned.
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

// numbers are as SQLite takes a list.
func numbers(list []int64) string {
	text, _ := json.Marshal(append([]int64{}, list...)) // numbers are never refused
	return string(text)
}
