package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// one returns the row that matches a condition.
func one(ctx context.Context, db querier, where string, args ...any) (*stored, error) {
	rows, err := db.Query(ctx, fmt.Sprintf(selectRows, "ledger_receipts", where), args...)
	if err != nil {
		return nil, err
	}
	r, err := pgx.CollectOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ledger.ErrNotFound
	}
	return r, err
}

// byID is the condition of the row of a receipt_id.
const byID = "sha256(r.receipt_id) = sha256($1)"

// found returns the row of a receipt_id. A pruned receipt is a *[ledger.PrunedError].
func (l *Ledger) found(ctx context.Context, receiptID string) (*stored, error) {
	r, err := one(ctx, l.pool, byID, []byte(receiptID))
	switch {
	case err != nil:
		return nil, err
	case string(r.id) != receiptID:
		return nil, r.damage(ledger.FaultFile, "an index leads to it that should not")
	case !r.pruned():
		return r, nil
	}

	if err := r.check(); err != nil {
		return nil, err
	}
	list, err := prunings(ctx, l.pool, "WHERE last >= $1 ORDER BY last LIMIT 1", r.sequence)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || r.sequence <= list[0].After {
		return nil, r.damage(ledger.FaultMissing, "it was pruned, and the row that names its archive is gone")
	}
	return nil, &ledger.PrunedError{ID: receiptID, Hash: digest(r.hash), Stream: r.stream, Pruning: list[0]}
}

// Get is described at [ledger.Store]. The result is the requested receipt, its content matches its
// hash, and its row matches the receipt; otherwise, the error is a *[receipt.RefutedError] or a
// *[ledger.DamageError]. For a pruned receipt, it is a *[ledger.PrunedError].
func (l *Ledger) Get(ctx context.Context, receiptID string) (*receipt.Sealed, error) {
	r, err := l.found(ctx, receiptID)
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return nil, l.wrap(ctx, "read a receipt", err)
	}
	return receipt.ParseSealed(r.json)
}

// ByHash is described at [ledger.Reader].
func (l *Ledger) ByHash(ctx context.Context, hash canon.Digest) (ledger.Entry, error) {
	r, err := one(ctx, l.pool, "r.hash = $1 ORDER BY r.seq LIMIT 1", hash[:])
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return ledger.Entry{}, l.wrap(ctx, "look for a receipt", err)
	}
	return r.entry(), nil
}

// StreamOf is described at [ledger.Locator].
func (l *Ledger) StreamOf(ctx context.Context, receiptID string) (s chain.Stream, found bool, err error) {
	var issuer, tenant, workspace []byte
	err = l.pool.QueryRow(ctx, "SELECT s.issuer, s.tenant, s.workspace FROM ledger_receipts r JOIN ledger_streams s ON s.id = r.stream WHERE "+byID,
		[]byte(receiptID)).Scan(&issuer, &tenant, &workspace)
	if errors.Is(err, pgx.ErrNoRows) {
		return s, false, nil
	}
	return streamOf(issuer, tenant, workspace), err == nil, l.wrap(ctx, "look for a receipt", err)
}

// Linked is described at [ledger.Locator].
func (l *Ledger) Linked(ctx context.Context, receiptID string) (json []byte, link receipt.Check, err error) {
	r, err := l.found(ctx, receiptID)
	if err != nil {
		return nil, link, l.wrap(ctx, "read a receipt", err)
	}

	doc, err := canon.Parse(r.json)
	if err == nil {
		_, err = rowOf(doc, r.json)
	}
	if err != nil {
		return r.json, receipt.Check{Status: receipt.StatusNotChecked, Code: receipt.CodeLinkNotChecked, Reason: "the receipt cannot be read"}, nil
	}
	if err := r.fits(); err != nil {
		return nil, link, err
	}

	// A fork is checked first: of two receipts that name one predecessor, the later one is invalid,
	// regardless of its position. Clients get these details, so none of them names another receipt.
	placed := r.place()
	damage, _ := errors.AsType[*ledger.DamageError](placed)
	switch {
	case r.forks:
		return r.json, r.refuted(receipt.CodeChainFork, receipt.CausePredecessorShared, "names a predecessor that another stored receipt names too"), nil
	case damage != nil && damage.Code == string(receipt.CodeChainBreak):
		return r.json, r.refuted(receipt.CodeChainBreak, receipt.CausePredecessorOther, "names a predecessor that is not the one before it in its stream, as it is stored"), nil
	case placed != nil:
		return nil, link, placed
	}
	return r.json, receipt.Check{Status: receipt.StatusPassed}, nil
}

// refuted returns the link of a receipt in an invalid position.
func (r *stored) refuted(code receipt.Code, cause receipt.Cause, detail string) receipt.Check {
	c := receipt.Check{Status: receipt.StatusFailed, Code: code, Pointer: "/chain/previous_receipt_hash", Stated: "null", Cause: cause, Detail: detail}
	if len(r.previous) > 0 {
		c.Stated = digest(r.previous).String()
	}
	return c
}
