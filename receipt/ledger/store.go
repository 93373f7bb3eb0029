// Package ledger issues and stores receipts. Acknowledged receipts survive a crash, and concurrent
// issuers do not fork a chain.
//
//	store, err := sqlite.Open(ctx, "receipts.db")
//	issuer := &ledger.Issuer{Store: store, Signer: signer} // or Unsigned
//	sealed, err := issuer.Issue(ctx, &draft)
//
// # Issuing
//
// An Issuer reads the head of the draft's stream from the Store, links, checks for secrets, seals,
// and signs. It appends the receipt if the head is still the same (compare and swap). Otherwise, it
// starts again with the new head. Signing may be slow, so nothing is locked while it is in
// progress. Any number of goroutines and processes may issue concurrently; a [TurnStore] orders
// them. Drafts that are waiting for the same stream in one process are committed together, because
// committing a group costs about as much as committing one draft.
//
// # When the outcome is unknown
//
// After a disk or network error, a crash, or a deadline, the receipt may or may not be stored. In
// this case, issue the same draft again, with the same receipt_id. If the first attempt was stored,
// its receipt is returned and no second receipt is created. ErrDuplicateID is returned only if the
// content stored under that ID differs. [Issuer.IssueUntilKnown] retries automatically, and an
// [IssueError] states whether the receipt was stored.
//
// # Stores
//
// This package contains the parts that all databases share, and depends on no database. Package
// sqlite keeps a ledger in a file. A program that implements [Store] for another database can issue
// receipts. If it also implements [Reader], it can list, check, import, export, and serve receipts,
// and compute trees. [Replacer] and [Pruner] add signing and pruning. A store stores the rows from
// [RowsOf] and returns them as they are in the database; the functions in this package compare them
// with the receipts.
//
// Old receipts can be pruned: if a signed checkpoint covers the ledger's first receipts, and an
// archive contains each of them byte for byte, their content can be removed from the ledger. IDs,
// hashes, and positions remain, so the chain and all proofs stay valid.
//
// # Stability
//
// This package may still change, because it is not part of the frozen core. Every later version can
// read a ledger that an earlier version wrote.
package ledger

import (
	"context"
	"errors"

	"github.com/receiptkit/receiptkit/chain"
)

// A Store stores receipts and the heads of their streams. Package storetest tests implementations
// of Store. Its methods must be safe for concurrent use.
type Store interface {
	// Head returns a stream's head, or the zero Head if the stream has no receipts.
	Head(ctx context.Context, s chain.Stream) (chain.Head, error)

	// Append durably stores runs in order, and makes each run's last receipt the head of its
	// stream, if the current head equals Previous. It is atomic with respect to other callers. Only
	// the hash of Previous is compared. RowsOf returns the rows to store, or the reason why nothing
	// may be stored.
	//
	// The error is or wraps ErrHeadMoved, ErrDuplicateID, or ErrNotStored. After any other error,
	// the runs may or may not be stored. Either all runs are stored or none. A duplicate ID is
	// reported in preference to a head that has moved. If a store is open read-only, the error also
	// wraps errors.ErrUnsupported, which means that a retry is useless.
	Append(ctx context.Context, runs ...Run) error

	// Find returns a row as it is in the database, with its place if the database records places.
	// The row may have been altered; [Get] and [Lookup] check it. If there is no such row, the
	// error is or wraps ErrNotFound. If a row at a position cannot be read, the error is a *[Fault]
	// with FaultUnreadable.
	Find(ctx context.Context, k Key) (*Row, error)
}

// A TurnStore is a Store that orders concurrent issuers.
type TurnStore interface {
	Store

	// Turn waits until it is the caller's turn to append to a stream, but not indefinitely. Head
	// and Append are then called with the context that it returns. Head may return a head that is
	// about to be stored, except on a retry. Done ends the turn, unless Append already did. It may
	// be called more than once. Turns only avoid useless work; Append alone decides, so no issuer
	// has to wait forever.
	Turn(ctx context.Context, s chain.Stream, again bool) (of context.Context, done func())
}

var (
	// ErrHeadMoved indicates that a stream's head differs from the head to which a receipt was
	// linked. Nothing was stored.
	ErrHeadMoved = errors.New("ledger: head of the stream has changed")

	// ErrDuplicateID indicates that a receipt with different content has the same receipt_id.
	// Nothing was stored.
	ErrDuplicateID = errors.New("ledger: receipt_id belongs to another receipt")

	// ErrUnsigned indicates that the draft's receipt is already stored without a signature. That
	// receipt may already have been passed on.
	ErrUnsigned = errors.New("ledger: receipt is already stored, without a signature")

	// ErrNotStored indicates that nothing was stored, because the error occurred before anything
	// could be stored.
	ErrNotStored = errors.New("ledger: nothing was stored")

	// ErrNotFound indicates that there is no such receipt.
	ErrNotFound = errors.New("ledger: no such receipt")
)
