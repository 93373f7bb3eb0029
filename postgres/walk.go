package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A page of a walk has at most so many receipts, and so many bytes of them or one receipt. No
// connection is held while the caller works.
const (
	pageReceipts = 256
	pageBytes    = 8 << 20
)

// columns are those of an entry, of receipts r and their streams s.
const columns = "r.seq, r.position, r.receipt_id, r.hash, s.issuer, s.tenant, s.workspace, r.json"

// scanEntry reads the columns of an entry.
func scanEntry(row pgx.Row) (e ledger.Entry, err error) {
	var id, hash, issuer, tenant, workspace []byte
	if err := row.Scan(&e.Sequence, &e.Position, &id, &hash, &issuer, &tenant, &workspace, &e.JSON); err != nil {
		return ledger.Entry{}, err
	}

	e.ID, e.Hash = string(id), digest(hash)
	e.Stream = chain.Stream{Issuer: string(issuer), Tenant: string(tenant), HasTenant: tenant != nil, Workspace: string(workspace)}
	return e, nil
}

// Get is described at [ledger.Store]. The result is the requested receipt, and its content matches
// its hash; otherwise, the error is a *[receipt.RefutedError] or a *[ledger.DamageError].
func (l *Ledger) Get(ctx context.Context, receiptID string) (*receipt.Sealed, error) {
	e, err := scanEntry(l.pool.QueryRow(ctx, "SELECT "+columns+" FROM ledger_receipts r JOIN ledger_streams s ON s.id = r.stream WHERE sha256(receipt_id) = sha256($1)", []byte(receiptID)))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ledger.ErrNotFound
	}
	if err != nil {
		return nil, l.wrap(ctx, "read a receipt", err)
	}

	sealed, err := receipt.ParseSealed(e.JSON)
	if err == nil && (e.ID != receiptID || sealed.ID() != receiptID || sealed.Hash() != e.Hash || sealed.Stream() != e.Stream) {
		return nil, misled(e.ID, e.Stream)
	}
	return sealed, err
}

// Walk returns the receipts of a query after a sequence, in the order in which they were stored.
// Receipts that are stored in the meantime may be included. An error ends the walk.
func (l *Ledger) Walk(ctx context.Context, q ledger.Query, after int64) iter.Seq2[ledger.Entry, error] {
	return func(yield func(ledger.Entry, error) bool) {
		for {
			page, err := l.page(ctx, q, after)
			if err != nil {
				yield(ledger.Entry{}, l.wrap(ctx, "list receipts", err))
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				after = e.Sequence
			}
			if len(page) == 0 {
				return
			}
		}
	}
}

// page returns the first receipts after a sequence. Their lengths are added up without reading them.
func (l *Ledger) page(ctx context.Context, q ledger.Query, after int64) ([]ledger.Entry, error) {
	where, args := conditions(q, after)
	rows, err := l.pool.Query(ctx, fmt.Sprintf(`SELECT %s FROM (
	SELECT *, sum(length(json)) OVER (ORDER BY seq) - length(json) AS before FROM (
		SELECT * FROM ledger_receipts r WHERE %s ORDER BY seq LIMIT %d
	) first
) r JOIN ledger_streams s ON s.id = r.stream WHERE r.before < %d ORDER BY r.seq`, columns, where, pageReceipts, pageBytes), args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (ledger.Entry, error) { return scanEntry(row) })
}

// conditions returns the conditions of a query.
func conditions(q ledger.Query, after int64) (where string, args []any) {
	var list []string
	add := func(condition string, arg any) {
		args = append(args, arg)
		list = append(list, strings.ReplaceAll(condition, "?", fmt.Sprint("$", len(args))))
	}

	add("seq > ?", after)
	if q.Task != "" {
		add("(sha256(task) = sha256(?) OR subject <> '' AND sha256(subject) = sha256(?))", []byte(q.Task))
	}
	if q.Session != "" {
		add("sha256(session) = sha256(?)", []byte(q.Session))
	}
	if q.Stream != nil {
		add("stream = (SELECT id FROM ledger_streams WHERE name = ?)", nameOf(*q.Stream))
	}
	if !q.From.IsZero() {
		add("issued_at >= ?", q.From.UnixMilli())
	}
	if !q.Before.IsZero() {
		add("issued_at < ?", q.Before.UnixMilli())
	}
	if !q.Until.IsZero() {
		add("seq < (SELECT min(seq) FROM ledger_receipts WHERE issued_at >= ?)", q.Until.UnixMilli())
	}
	return strings.Join(list, " AND "), args
}
