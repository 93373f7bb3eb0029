package serve

import (
	"context"
	"errors"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// ErrNotFound is returned by a Source that has no such receipt. To a client it is
// the same as a receipt that it may not see.
var ErrNotFound = errors.New("serve: no such receipt")

// ErrCursor is returned by a Source for a cursor that it did not make, or whose
// place is gone. The client begins anew without one.
var ErrCursor = errors.New("serve: no such place in the list")

// ErrChanged is returned by a Source whose stored bytes are no longer what they
// were when it found the receipt in them. It serves no other bytes in their place.
var ErrChanged = errors.New("serve: the stored receipt has changed since it was indexed")

// A Source is a store of receipts that are read only. Its methods must be safe for
// concurrent use and should end early when the context is cancelled. Identifiers
// come from strangers: a Source looks them up, it opens nothing by that name.
//
// It judges nothing. A receipt that is stored altered is returned altered, so that
// verifying it can say so. Nor is it believed: a Server makes sure that what it returns
// states the very id, or is of the task, that it was asked for.
type Source interface {
	// Get returns the receipt of a receipt_id. The error is or wraps ErrNotFound,
	// ErrChanged, or what went wrong in reading.
	Get(ctx context.Context, receiptID string) (Stored, error)

	// ByTask returns at most limit receipts of a task (of the subject, or of
	// identifiers.task_id), in an order that does not change while receipts are
	// added behind it. A cursor is what the call before returned as next; "" begins
	// anew. It is opaque to clients, of at most MaxCursor bytes, and may come from
	// anyone. Next is "" behind the last page. A task without receipts, known or not,
	// has an empty page. The error is or wraps ErrCursor, ErrChanged, or what went
	// wrong in reading.
	ByTask(ctx context.Context, taskID, cursor string, limit int) (page []Stored, next string, err error)
}

// MaxCursor is how long a cursor may be, in bytes of visible ASCII.
const MaxCursor = 512

// errOther is that a Source gave another receipt than it was asked for. Its rows or
// its index are wrong, so that nothing of it is given out.
var errOther = errors.New("serve: the source returned something else than the receipt that was asked for")

// Stored is a receipt as it was stored.
type Stored struct {
	// JSON is the text of the receipt, byte for byte; what was stored as CBOR is
	// translated by package archive. It must not be changed by anyone.
	JSON []byte
}

// isReceipt makes sure that a receipt is the one of an id: it states that very id, byte
// for byte. Whatever a Source finds it by, this is what a client is told about.
func (s Stored) isReceipt(id string) error {
	doc := new(canon.Document)
	found := ""
	if doc.Parse(s.JSON, canon.Limits{Bytes: receipt.MaxBytes}) == nil {
		found = doc.Root().Member("receipt_id").String()
	} else {
		found = damagedID(s.JSON)
	}
	if found != id {
		return internal(errOther, "what is stored under this id is not the receipt of this id, and is not given out")
	}
	return nil
}

// isOfTask makes sure that a receipt is one of a task.
func isOfTask(root canon.Node, task string) error {
	if !slices.Contains(tasksOf(root), task) {
		return internal(errOther, "what is stored for this task is not all of this task, and is not given out")
	}
	return nil
}
