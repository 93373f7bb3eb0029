package sqlite

import (
	"database/sql"
	"encoding/json"
	"strings"

	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A query is a query with the streams that it sees.
type query struct {
	ledger.Query
	seen []int64
}

// conditions returns the conditions of rows after one, up to a last one.
func (q query) conditions(after, last int64) (where string, args []any) {
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
	if from, before, ok := q.Times(); ok {
		add("+issued_at >= ? AND +issued_at < ?", from, before) // +: not by that index, which has another order
	}

	return strings.Join(conditions, " AND "), args
}

// selects compares a row with the query, because a damaged index leads to other rows.
func (q query) selects(r *stored) error {
	from, before, timed := q.Times()
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

// numbers formats a list for json_each of SQLite.
func numbers(list []int64) string {
	text, _ := json.Marshal(append([]int64{}, list...)) // numbers are never refused
	return string(text)
}
