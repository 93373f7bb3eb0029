package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// ErrNotFound is returned by a Source that has no such receipt. To a client it is
// the same as a receipt that it may not see.
var ErrNotFound = errors.New("serve: no such receipt")

// ErrCursor is returned by a Source when the receipt that a page is to begin after is
// not in the list, or is no longer there. The client begins anew.
var ErrCursor = errors.New("serve: no such place in the list")

// ErrChanged is returned by a Source whose stored bytes are no longer what they
// were when it found the receipt in them. It serves no other bytes in their place.
var ErrChanged = errors.New("serve: the stored receipt has changed since it was indexed")

// A PrunedError is returned by a Source for a receipt that it had: only its hash is left
// there, and an archive has its content. To a client that is 410, and not as if it had
// never been.
type PrunedError struct {
	Hash canon.Digest // of the receipt

	// What a client is told that may see all receipts, for it tells how many they are.
	Checkpoint []byte       // signed (C2SP tlog-checkpoint); the receipt is under it
	Archive    string       // the name of the file
	Digest     canon.Digest // SHA-256 of that
}

func (e *PrunedError) Error() string {
	return fmt.Sprintf("serve: the receipt with the hash %v was pruned, the archive %.200q has it", e.Hash, e.Archive)
}

// A Pruner is a Source that gives a PrunedError, and so has to tell which lists lack
// something.
type Pruner interface {
	// CountPruned returns how many receipts of a task, within reach, are in archives. The
	// limit of the query and where it begins do not count.
	CountPruned(ctx context.Context, q TaskQuery) (int64, error)
}

// A Source is a store of receipts that are read only. Its methods must be safe for
// concurrent use and should end early when the context is cancelled. Identifiers
// come from strangers: a Source looks them up, it opens nothing by that name.
//
// It judges nothing. A receipt that is stored altered is returned altered, so that
// verifying it can say so. Nor is it believed: a Server makes sure that what it returns
// states the very id, or is of the task, that it was asked for, and is within the
// client's reach.
type Source interface {
	// Get returns the receipt of a receipt_id. One that is out of reach is not found,
	// and should not be read to find that out: how long an answer takes would tell.
	// The error is or wraps ErrNotFound, ErrChanged, a *PrunedError, or what went wrong in
	// reading.
	Get(ctx context.Context, receiptID string, reach protocol.Reach) (Stored, error)

	// ByTask returns a page of the receipts of a task, and whether there are more
	// after it. A task without receipts, known or not, has an empty page. The error
	// is or wraps ErrCursor, ErrChanged, or what went wrong in reading.
	ByTask(ctx context.Context, q TaskQuery) (page []Stored, more bool, err error)
}

// A TaskQuery asks for receipts of a task, in an order that does not change while
// receipts are added after it.
type TaskQuery struct {
	Task  string         // of the subject, or of identifiers.task_id
	Reach protocol.Reach // what is out of it is as if it were not there
	After canon.Digest   // the receipt hash of the last receipt before the page; zero: none
	Limit int            // how many receipts a page may have, at least 1
}

// errOther is that a Source gave another receipt than it was asked for. Its rows or
// its index are wrong, so that nothing of it is given out.
var errOther = errors.New("serve: the source returned something else than the receipt that was asked for")

// Stored is a receipt as it was stored.
type Stored struct {
	// JSON is the text of the receipt, byte for byte; what was stored as CBOR is
	// translated by package archive. It must not be changed by anyone.
	JSON []byte

	// Link is how the receipt stands to the others of its stream that are stored, as
	// package stream finds it: passed, failed, or not checked. A receipt that does not
	// follow what is stored before it is then refuted. Nil: the source does not know.
	Link *receipt.Check
}

// isReceipt makes sure that a receipt is the one of an id: it states that very id, byte
// for byte. Whatever a Source finds it by, this is what a client is told about. What
// does not show that it is within reach is as if it were not there.
func (s Stored) isReceipt(id string, reach protocol.Reach) error {
	doc := new(canon.Document)
	found, within := "", reach.All()
	if doc.Parse(s.JSON, canon.Limits{Bytes: receipt.MaxBytes}) == nil {
		found, within = doc.Root().Member("receipt_id").String(), reach.Sees(chain.StreamOf(doc))
	} else {
		found = DamagedID(s.JSON)
	}

	// Out of reach comes first: it must look like what is not there.
	switch {
	case !within:
		return protocol.NotFound()
	case found != id:
		return protocol.Internal(errOther, "what is stored under this id is not the receipt of this id, and is not given out")
	}
	return nil
}

// isOfTask makes sure that a receipt is one that a page may hold.
func isOfTask(doc *canon.Document, q TaskQuery) error {
	if !slices.Contains(Tasks(doc.Root()), q.Task) || !q.Reach.Sees(chain.StreamOf(doc)) {
		return protocol.Internal(errOther, "what is stored for this task is not all of this task, and is not given out")
	}
	return nil
}
