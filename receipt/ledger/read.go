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
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// Get is described at [Store]. A receipt that is stored damaged is a
// *[receipt.RefutedError].
func (l *SQLite) Get(ctx context.Context, receiptID string) (*receipt.Sealed, error) {
	json, err := l.Raw(ctx, receiptID)
	if err != nil {
		return nil, err
	}
	return l.sealer.Parse(json)
}

// Raw returns the stored bytes of a receipt, damaged or not.
func (l *SQLite) Raw(ctx context.Context, receiptID string) (json []byte, err error) {
	err = l.read.QueryRowContext(ctx, "SELECT json FROM receipts WHERE receipt_id = ?", receiptID).Scan(&json)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	return json, l.wrap("read a receipt", err)
}

// An Entry is a receipt in the ledger.
type Entry struct {
	Sequence int64  // the order in which receipts were stored, from 1; it may have gaps
	Position uint64 // in its stream, from 1
	ID       string // receipt_id
	Hash     canon.Digest
	JSON     []byte // as stored

	issuedAt int64
}

// A Query selects receipts. The zero Query selects all.
type Query struct {
	Task    string        // identifiers.task_id; "": any
	Session string        // identifiers.session_id; "": any
	Stream  *chain.Stream // nil: any
	From    time.Time     // issued_at is not earlier; zero: any
	Before  time.Time     // issued_at is earlier; zero: any
}

// byTime reports whether the result is in the order of issued_at instead of that
// in which receipts were stored.
func (q Query) byTime() bool { return !q.From.IsZero() || !q.Before.IsZero() }

// A place is behind an entry in a result.
type place struct{ issuedAt, seq int64 }

// sql returns the statement for what comes behind a place.
func (q Query) sql(after place, limit int) (string, []any) {
	conditions, args, order := []string{"seq > ?"}, []any{after.seq}, "seq"
	if q.byTime() {
		conditions, args, order = []string{"(issued_at, seq) > (?, ?)"}, []any{after.issuedAt, after.seq}, "issued_at, seq"
	}
	add := func(condition string, arg ...any) {
		conditions, args = append(conditions, condition), append(args, arg...)
	}
	if q.Task != "" {
		add("task = ?", q.Task)
	}
	if q.Session != "" {
		add("session = ?", q.Session)
	}
	if s := q.Stream; s != nil {
		add("stream = (SELECT id FROM streams WHERE issuer = ? AND (tenant IS NULL) = ? AND ifnull(tenant, '') = ? AND workspace = ?)",
			s.Issuer, !s.HasTenant, s.Tenant, s.Workspace)
	}
	if !q.From.IsZero() {
		add("issued_at >= ?", q.From.UnixMilli())
	}
	if !q.Before.IsZero() {
		add("issued_at < ?", q.Before.UnixMilli())
	}
	return "SELECT seq, position, receipt_id, issued_at, hash, json FROM receipts WHERE " + strings.Join(conditions, " AND ") +
		" ORDER BY " + order + " LIMIT ?", append(args, limit)
}

// scanned is how many receipts a scan reads at a time: it holds no lock and no
// connection while the caller works.
const scanned = 256

// Scan returns the receipts of a query in the order in which they were stored, in
// each stream in the order of its chain; with From or Before, in the order of
// issued_at. Receipts that are stored meanwhile may be among them. An error ends
// it.
func (l *SQLite) Scan(ctx context.Context, q Query) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		after := place{math.MinInt64, 0}
		for {
			entries, last, err := l.list(ctx, q, after, scanned)
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if after = last; len(entries) < scanned {
				return
			}
		}
	}
}

// list returns the entries behind a place, and the place behind them. With an
// error it returns those before it.
func (l *SQLite) list(ctx context.Context, q Query, after place, limit int) (list []Entry, last place, err error) {
	statement, args := q.sql(after, limit)
	rows, err := l.read.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, after, l.wrap("list receipts", err)
	}
	defer rows.Close()
	for rows.Next() {
		var e Entry
		var hash []byte
		if err := rows.Scan(&e.Sequence, &e.Position, &e.ID, &e.issuedAt, &hash, &e.JSON); err != nil {
			return list, after, l.wrap("list receipts", err)
		}
		copy(e.Hash[:], hash)
		list, after = append(list, e), place{e.issuedAt, e.Sequence}
	}
	return list, after, l.wrap("list receipts", rows.Err())
}

// ErrCursor says that a cursor is none that List returned.
var ErrCursor = errors.New("ledger: no such place in a list")

// List returns a page of a query, ordered as by Scan, and the cursor of the next
// page, which is "" when there is none. An empty cursor is the beginning. Cursors
// stay valid for ever; they are opaque, and may come from a stranger.
func (l *SQLite) List(ctx context.Context, q Query, cursor string, limit int) (page []Entry, next string, err error) {
	after, err := parseCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	if limit < 1 {
		return nil, "", fmt.Errorf("ledger: a page of %d receipts, expected at least 1", limit)
	}
	if page, _, err = l.list(ctx, q, after, limit+1); err != nil {
		return nil, "", err
	}
	if len(page) <= limit {
		return page, "", nil
	}
	last := page[limit-1]
	return page[:limit], place{last.issuedAt, last.Sequence}.cursor(), nil
}

// cursorVersion is the first byte of a cursor; two numbers of 8 bytes follow.
const cursorVersion = 1

func (p place) cursor() string {
	data := binary.BigEndian.AppendUint64([]byte{cursorVersion}, uint64(p.issuedAt))
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(data, uint64(p.seq)))
}

func parseCursor(cursor string) (place, error) {
	if cursor == "" {
		return place{math.MinInt64, 0}, nil
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	// encoding/base64 skips line ends
	if err != nil || len(data) != 17 || len(cursor) != base64.RawURLEncoding.EncodedLen(17) || data[0] != cursorVersion {
		return place{}, ErrCursor
	}
	return place{int64(binary.BigEndian.Uint64(data[1:])), int64(binary.BigEndian.Uint64(data[9:]))}, nil
}

// A StreamHead is a stream of the ledger and where it ends.
type StreamHead struct {
	Stream chain.Stream
	Head   chain.Head
}

// Streams returns the streams of the ledger, in the order of chain.Stream.Compare.
func (l *SQLite) Streams(ctx context.Context) ([]StreamHead, error) {
	list, err := l.streams(ctx)
	return list, l.wrap("list the streams", err)
}

func (l *SQLite) streams(ctx context.Context) (list []StreamHead, err error) {
	rows, err := l.read.QueryContext(ctx, "SELECT issuer, tenant, workspace, head, count FROM streams ORDER BY issuer, tenant IS NOT NULL, tenant, workspace")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s StreamHead
		var tenant sql.NullString
		var hash []byte
		if err := rows.Scan(&s.Stream.Issuer, &tenant, &s.Stream.Workspace, &hash, &s.Head.Count); err != nil {
			return nil, err
		}
		s.Stream.Tenant, s.Stream.HasTenant = tenant.String, tenant.Valid
		copy(s.Head.Hash[:], hash)
		list = append(list, s)
	}
	return list, rows.Err()
}

// Find returns the stream of the receipt with a hash, and whether there is one.
func (l *SQLite) Find(ctx context.Context, hash canon.Digest) (s chain.Stream, found bool, err error) {
	var tenant sql.NullString
	err = l.read.QueryRowContext(ctx, "SELECT s.issuer, s.tenant, s.workspace FROM receipts r JOIN streams s ON s.id = r.stream WHERE r.hash = ? LIMIT 1", hash[:]).Scan(&s.Issuer, &tenant, &s.Workspace)
	if errors.Is(err, sql.ErrNoRows) {
		return s, false, nil
	}
	s.Tenant, s.HasTenant = tenant.String, tenant.Valid
	return s, err == nil, l.wrap("look for a receipt", err)
}
