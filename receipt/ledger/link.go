package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A linker reads where receipts stand among the others of their streams.
type linker struct{ reader }

// Linked returns the stored bytes of a receipt as [SQLite.Raw] does, and how the
// receipt stands to the others of its stream: it follows the one before it, or it does
// not, which refutes it, or another one was there before that follows the same. The
// tables do not let that happen; whoever writes around them can. The link of what cannot
// be read is not checked.
func (l *linker) Linked(ctx context.Context, receiptID string) (json []byte, link receipt.Check, err error) {
	done, err := l.reading(ctx)
	if err != nil {
		return nil, link, err
	}
	defer done()

	r, readable, err := l.found(ctx, receiptID)
	if err != nil {
		return nil, link, err
	}
	if !readable {
		return r.json, receipt.Check{Status: receipt.StatusNotChecked, Code: receipt.CodeLinkNotChecked, Reason: "the receipt cannot be read"}, nil
	}

	// A fork comes first: of two receipts that name one predecessor the later is false,
	// wherever it stands.
	forks, err := l.forks(ctx, l.read, r)
	if err != nil {
		return nil, link, l.wrap("read a receipt", err)
	}

	// Clients read these details, so none of them names another receipt.
	placed := r.place()
	damage, _ := errors.AsType[*DamageError](placed)
	switch {
	case forks:
		return r.json, r.refuted(receipt.CodeChainFork, receipt.CausePredecessorShared, "names a predecessor that another stored receipt names too"), nil
	case damage != nil && damage.Code == string(receipt.CodeChainBreak):
		return r.json, r.refuted(receipt.CodeChainBreak, receipt.CausePredecessorOther, "names a predecessor that is not the one before it in its stream, as it is stored"), nil
	case placed != nil:
		return nil, link, placed
	}

	return r.json, receipt.Check{Status: receipt.StatusPassed}, nil
}

// StreamOf returns the stream that a receipt was stored in, without reading the receipt,
// and whether there is one.
func (l *linker) StreamOf(ctx context.Context, receiptID string) (s chain.Stream, found bool, err error) {
	done, err := l.reading(ctx)
	if err != nil {
		return s, false, err
	}
	defer done()

	var tenant sql.NullString
	err = l.read.QueryRowContext(ctx, "SELECT s.issuer, s.tenant, s.workspace FROM receipts r JOIN streams s ON s.id = r.stream WHERE r.receipt_id = ?",
		receiptID).Scan(&s.Issuer, &tenant, &s.Workspace)
	if errors.Is(err, sql.ErrNoRows) {
		return chain.Stream{}, false, nil
	}
	s.Tenant, s.HasTenant = tenant.String, tenant.Valid
	return s, err == nil, l.wrap("look for a receipt", err)
}

// visible returns the rows of the streams that are seen.
func visible(ctx context.Context, db *sql.DB, sees func(chain.Stream) bool) (ids []int64, err error) {
	rows, err := streamRows(ctx, db)
	for _, s := range rows {
		if sees(s.Stream) {
			ids = append(ids, s.id)
		}
	}
	return ids, err
}

// numbers are as SQLite takes a list.
func numbers(list []int64) string {
	text, _ := json.Marshal(append([]int64{}, list...)) // numbers are never refused
	return string(text)
}
