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

// ErrChanged indicates that the stored bytes of a receipt have changed since the Source indexed
// them. In this case, the Source never serves the changed bytes.
var ErrChanged = errors.New("serve: stored receipt has changed since it was indexed")

// A pruner is a Source that can return a *[ledger.PrunedError], and must therefore report how many
// receipts are missing from a list.
type pruner interface {
	// CountPruned returns the number of receipts of a task that are in archives and within reach.
	// The limit and the start of the query are ignored.
	CountPruned(ctx context.Context, q TaskQuery) (int64, error)
}

// A Source is a read-only store of receipts. Its methods must be safe for concurrent use and should
// return early if the context is canceled. Identifiers are untrusted: a Source must only look them
// up, and must never open a file or anything else under such a name.
//
// A Source does not verify receipts. If a receipt was altered in the store, the Source returns the
// altered receipt unchanged, so that verification can report the alteration. A Source is not
// trusted, either: a Server checks that the results contain the requested ID or task, and that the
// client may see them.
//
// A Source that returns a *[ledger.PrunedError] must also have the method CountPruned(ctx, q
// TaskQuery) (int64, error). With this method, a list can state how many receipts are missing from
// it.
type Source interface {
	// Get returns the receipt with the given receipt_id. A receipt outside the reach is not found.
	// The Source should not read the receipt to determine this, because the response time would
	// reveal that the receipt exists. The error is or wraps ledger.ErrNotFound, ErrChanged, a
	// *ledger.PrunedError, or a read error.
	Get(ctx context.Context, receiptID string, reach protocol.Reach) (Stored, error)

	// ByTask returns a page of the receipts of a task, and reports whether more receipts follow.
	// For a task without receipts, whether it is known or not, the page is empty. The error is or
	// wraps ledger.ErrCursor, ErrChanged, or a read error.
	ByTask(ctx context.Context, q TaskQuery) (page []Stored, more bool, err error)
}

// A TaskQuery requests the receipts of a task, in an order that does not change when receipts are
// added.
type TaskQuery struct {
	Task  string         // ID of the task, which is the subject or identifiers.task_id of the receipts
	Reach protocol.Reach // receipts outside this reach are treated as absent
	After canon.Digest   // receipt hash of the last receipt on the previous page, or zero
	Limit int            // maximum number of receipts on the page; at least 1
}

// errOther indicates that a Source returned a receipt other than the requested one. Its rows or its
// index must be incorrect, so the receipt is not served.
var errOther = errors.New("serve: source returned a different receipt from the one requested")

// A Stored value is a receipt as it was stored.
type Stored struct {
	// JSON is the text of the receipt, byte for byte; a receipt that was stored as CBOR has been
	// converted by package archive. The caller must not modify it.
	JSON []byte

	// Link is the result of checking the receipt's link to the other stored receipts in its stream:
	// passed, failed, or not checked. The result is the same as in package stream. A receipt that
	// does not follow its stored predecessor is therefore refuted. If Link is nil, the result is
	// unknown.
	Link *receipt.Check
}

// isReceipt checks that a receipt contains exactly the requested ID, regardless of how the Source
// found the receipt. A receipt is treated as absent unless its content shows that it is within
// reach.
func (s Stored) isReceipt(id string, reach protocol.Reach) error {
	doc := new(canon.Document)
	found, within := "", reach.All()
	if doc.Parse(s.JSON, canon.Limits{Bytes: receipt.MaxBytes}) == nil {
		found, within = doc.Root().Member("receipt_id").String(), reach.Sees(chain.StreamOf(doc))
	} else {
		found = DamagedID(s.JSON)
	}

	// The reach is checked first, because a receipt outside the reach must be indistinguishable
	// from an absent receipt.
	switch {
	case !within:
		return protocol.NotFound()
	case found != id:
		return protocol.Internal(errOther, "what is stored under this id is not the receipt of this id, and is not given out")
	}
	return nil
}

// isOfTask checks that a receipt may be listed on a page for the task.
func isOfTask(doc *canon.Document, q TaskQuery) error {
	if !slices.Contains(Tasks(doc.Root()), q.Task) || !q.Reach.Sees(chain.StreamOf(doc)) {
		return protocol.Internal(errOther, "what is stored for this task is not all of this task, and is not given out")
	}
	return nil
}
