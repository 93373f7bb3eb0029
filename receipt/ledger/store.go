package ledger

import (
	"context"
	"errors"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Store keeps receipts and the heads of their streams. [SQLite] is one; package
// storetest tests any. Its methods must be safe for concurrent use.
type Store interface {
	// Head returns the head of a stream: the zero Head when it has no receipt.
	Head(ctx context.Context, s chain.Stream) (chain.Head, error)

	// Append makes the last of a run of receipts the head of their stream s, durably, if
	// previous is the head at that moment; it is one step, whoever else appends. Each receipt
	// follows the one before it. Only the hash of previous counts. The error is or wraps
	// ErrHeadMoved, ErrDuplicateID, ErrNotStored, or what went wrong, after which the run may
	// or may not be stored. What is stored is all of it, or nothing.
	Append(ctx context.Context, s chain.Stream, previous chain.Head, run ...*receipt.Sealed) error

	// Get returns the receipt of a receipt_id. The error is or wraps ErrNotFound, or
	// what went wrong.
	Get(ctx context.Context, receiptID string) (*receipt.Sealed, error)
}

// A TurnStore is a Store that knows who of several issuers came first.
type TurnStore interface {
	Store

	// Turn waits until it is the caller's turn to append to a stream, and not longer
	// than is sensible. Head and Append are then called with the context that it
	// returns; Head may return what is about to be the head, unless the caller tries
	// again. Done ends the turn, if Append did not; it may be called more than once.
	// Turns save work that would be in vain, and let nobody wait for ever: Append
	// decides alone.
	Turn(ctx context.Context, s chain.Stream, again bool) (of context.Context, done func())
}

var (
	// ErrHeadMoved says that a stream has another head than the one that a receipt
	// was linked to. Nothing was stored.
	ErrHeadMoved = errors.New("ledger: the stream has another head by now")

	// ErrDuplicateID says that a receipt_id is taken by a receipt with another
	// content. Nothing was stored.
	ErrDuplicateID = errors.New("ledger: the receipt_id is taken by another receipt")

	// ErrUnsigned says that the receipt of a draft is stored already, without a
	// signature. It may have been given to others as it is.
	ErrUnsigned = errors.New("ledger: the receipt is stored already, and is not signed")

	// ErrNotFound says that no receipt has a receipt_id.
	ErrNotFound = errors.New("ledger: no such receipt")
)
