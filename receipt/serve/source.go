package serve

import (
	"context"
	"errors"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// ErrChanged indicates that the stored bytes have changed since a Source found the receipt. The
// Source never serves other bytes in their place.
var ErrChanged = errors.New("serve: stored receipt has changed since it was indexed")

// A pruner is a Source that returns *[ledger.PrunedError]s, and must therefore report which lists
// are incomplete.
type pruner interface {
	// CountPruned returns the number of a task's receipts, within reach, that are in archives. The
	// query's limit and start do not apply.
	CountPruned(ctx context.Context, q TaskQuery) (int64, error)
}

// A Source is a read-only store of receipts. Its methods must be safe for concurrent use and should
// end early if the context is canceled. Identifiers are untrusted: a Source must only look them up,
// and must never open anything by such a name.
//
// A Source does not judge receipts. A receipt that was altered in the store is returned unchanged,
// so that verification can report the alteration. Nor is a Source trusted: a Server verifies that
// its results state the requested ID or task, and are within the client's reach.
//
// A Source that returns *[ledger.PrunedError]s also has the method CountPruned(ctx, q TaskQuery)
// (int64, error), so that a list can report the number of receipts missing from it.
type Source interface {
	// Get returns the receipt with a receipt_id. A receipt out of reach is not found, and the
	// Source should not read it to determine that, because the response time would reveal that it
	// exists. The error is or wraps ledger.ErrNotFound, ErrChanged, a *ledger.PrunedError, or a
	// read error.
	Get(ctx context.Context, receiptID string, reach protocol.Reach) (Stored, error)

	// ByTask returns a page of a task's receipts, and reports whether more receipts follow. A task
	// without receipts, whether known or not, has an empty page. The error is or wraps
	// ledger.ErrCursor, ErrChanged, or a read error.
	ByTask(ctx context.Context, q TaskQuery) (page []Stored, more bool, err error)
}

// A TaskQuery requests a task's receipts, in an order that does not change when receipts are added.
type TaskQuery struct {
	Task  string         // ID of the subject, or identifiers.task_id
	Reach protocol.Reach // receipts out of reach are treated as absent
	After canon.Digest   // the receipt hash of the last receipt before the page, or zero
	Limit int            // the maximum number of receipts on a page, at least 1
}

// errOther indicates that a Source returned a receipt other than the requested receipt. Its rows or
// its index are incorrect, so no receipt from it is served.
var errOther = errors.New("serve: source returned a different receipt from the one requested")

// Stored is a receipt as it was stored.
type Stored struct {
	// JSON is the receipt's text, byte for byte; package archive converts a receipt that was stored
	// as CBOR. Callers must not modify it.
	JSON []byte

	// Link is the receipt's position among the stored receipts in its stream, as determined by
	// package stream: passed, failed, or not checked. A receipt that does not follow its stored
	// predecessor is therefore refuted. Nil: unknown.
	Link *receipt.Check
}

// isReceipt verifies that a receipt states the requested ID, byte for byte, regardless of how the
// Source found it. A receipt is treated as absent unless it shows that it is within reach.
func (s Stored) isReceipt(id string, reach protocol.Reach) error {
	doc := new(canon.Document)
	found, within := "", reach.All()
	if doc.Parse(s.JSON, canon.Limits{Bytes: receipt.MaxBytes}) == nil {
		found, within = doc.Root().Member("receipt_id").String(), reach.Sees(chain.StreamOf(doc))
	} else {
		found = DamagedID(s.JSON)
	}

	// The reach is checked first, because a receipt out of reach must be indistinguishable from an
	// absent receipt.
	switch {
	case !within:
		return protocol.NotFound()
	case found != id:
		return protocol.Internal(errOther, "what is stored under this id is not the receipt of this id, and is not given out")
	}
	return nil
}

// isOfTask verifies that a page may contain a receipt.
func isOfTask(doc *canon.Document, q TaskQuery) error {
	if !slices.Contains(Tasks(doc.Root()), q.Task) || !q.Reach.Sees(chain.StreamOf(doc)) {
		return protocol.Internal(errOther, "what is stored for this task is not all of this task, and is not given out")
	}
	return nil
}
