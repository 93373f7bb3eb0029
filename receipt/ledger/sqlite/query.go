package sqlite

import (
	"encoding/json"
	"strings"

	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A query combines a ledger.Query with the streams that it may see.
type query struct {
	ledger.Query
	seen []int64
}

// conditions returns the conditions for rows after a sequence number, up to the sequence number
// last.
func (q query) conditions(after, last int64) (where string, args []any) {
	conditions, args := []string{"seq > ? AND seq <= ?"}, []any{after, last}
	add := func(condition string, arg ...any) {
		conditions, args = append(conditions, condition), append(args, arg...)
	}
	if q.Session != "" {
		add("session = ?", q.Session)
	}
	if q.Stream != nil {
		add("stream = (SELECT id FROM streams WHERE "+byStream+")", streamArgs(*q.Stream)...)
	}

	// Rows that the query may not see are not even read, because the time needed to read them would
	// reveal that they exist.
	if q.Sees != nil {
		text, _ := json.Marshal(append([]int64{}, q.seen...)) // encoding numbers never fails
		add("stream IN (SELECT value FROM json_each(?))", string(text))
	}

	// The "+" prevents the use of the index of times, whose order is different.
	if !q.From.IsZero() {
		add("+issued_at >= ?", q.From.UnixMilli())
	}
	if !q.Before.IsZero() {
		add("+issued_at < ?", q.Before.UnixMilli())
	}
	return strings.Join(conditions, " AND "), args
}
