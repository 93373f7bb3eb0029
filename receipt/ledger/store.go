// Package ledger issues and stores receipts. Receipts that have been acknowledged survive a crash,
// and issuers that work at the same time do not fork a chain.
//
//	store, err := sqlite.Open(ctx, "receipts.db")
//	issuer := &ledger.Issuer{Store: store, Signer: signer} // or Unsigned
//	sealed, err := issuer.Issue(ctx, &draft)
//
// # Issuing
//
// To issue a draft, an Issuer reads the head of the stream from the Store, links the draft to the
// head, searches it for secrets, seals it, and signs it. It then appends the receipt if the head is
// still the same (compare and swap). If the head has changed, it starts again with the new head.
// Nothing is locked while a receipt is being signed, because signing may be slow. Any number of
// goroutines and processes may issue receipts at the same time; a [TurnStore] orders them. Drafts
// that are waiting for the same stream in one process are committed together, because committing a
// group takes about as long as committing a single receipt.
//
// # When the outcome is unknown
//
// After a disk or network error, a crash, or a deadline, the receipt may or may not have been
// stored. In this case, issue the same draft, with the same receipt_id, again. If the first attempt
// stored the receipt, that receipt is returned, and no second receipt is created. The error is
// ErrDuplicateID only if the receipt that is stored under this ID has different content.
// [Issuer.IssueUntilKnown] repeats attempts automatically, and an [IssueError] states whether the
// receipt was stored.
//
// # Stores
//
// This package contains the code that is common to all databases, and does not depend on any
// database. Package sqlite stores a ledger in a file. To issue receipts with another database,
// implement [Store] for it. To list, check, import, export, and serve receipts, and to compute
// trees, also implement [Reader]. [Replacer] and [Pruner] are required for signing stored receipts
// and for pruning. A store saves the rows from [RowsOf], and returns rows as they are in the
// database; the functions in this package compare them with the receipts.
//
// Old receipts can be pruned. If a signed checkpoint covers the first receipts in a ledger, and an
// archive contains each of them byte for byte, the content of these receipts can be removed from
// the ledger. Their IDs, hashes, and positions remain, so the chain and all proofs remain valid.
//
// # Stability
//
// This package may still change, because it is not part of the frozen core. A ledger that any
// version has written can be read by all later versions.
package ledger

import (
	"context"
	"errors"

	"github.com/receiptkit/receiptkit/chain"
)

// A Store contains receipts and the heads of their streams. Package storetest tests implementations
// of Store. The methods of a Store must be safe for concurrent use.
type Store interface {
	// Head returns the head of a stream, or the zero Head if the stream has no receipts.
	Head(ctx context.Context, s chain.Stream) (chain.Head, error)

	// Append durably stores runs, in order, and makes the last receipt of each run the head of its
	// stream, provided that Previous of the run matches the current head. Append is atomic with
	// respect to other callers. Only the hashes of Previous and the head are compared. RowsOf
	// returns the rows to store, or the reason why nothing may be stored.
	//
	// If nothing was stored, the error is or wraps ErrHeadMoved, ErrDuplicateID, or ErrNotStored.
	// After any other error, the runs may or may not have been stored. In any case, either all of
	// the runs or none of them are stored. If an ID is a duplicate and a head has moved, the error
	// is ErrDuplicateID. If the store is open for reading only, the error also wraps
	// errors.ErrUnsupported, which means that repeating the call is useless.
	Append(ctx context.Context, runs ...Run) error

	// Find returns a row as it is in the database, including its place if the database records
	// places. The row may have been altered; [Get] and [Lookup] check it. If there is no such row,
	// the error is or wraps ErrNotFound. If the row at a position exists but cannot be read, the
	// error is a *[Fault] with the code FaultUnreadable.
	Find(ctx context.Context, k Key) (*Row, error)
}

// A TurnStore is a Store that determines the order of concurrent issuers.
type TurnStore interface {
	Store

	// Turn waits until it is the caller's turn to append to a stream, but it does not wait
	// indefinitely. The caller passes the context that Turn returns to Head and Append. Head may
	// then return a head that is still being stored, unless again is true. Calling done ends the
	// turn, unless Append has already ended it. done may be called more than once. Turns merely
	// avoid useless work. Append alone determines which receipt is stored, so no issuer has to wait
	// forever.
	Turn(ctx context.Context, s chain.Stream, again bool) (of context.Context, done func())
}

var (
	// ErrHeadMoved indicates that the head of a stream is no longer the head to which a receipt was
	// linked. Nothing was stored.
	ErrHeadMoved = errors.New("ledger: head of the stream has changed")

	// ErrDuplicateID indicates that a receipt with the same receipt_id but different content is
	// already stored. Nothing was stored.
	ErrDuplicateID = errors.New("ledger: receipt_id belongs to another receipt")

	// ErrUnsigned indicates that the receipt for a draft is already stored, without a signature.
	// That receipt may already have been passed on.
	ErrUnsigned = errors.New("ledger: receipt is already stored, without a signature")

	// ErrNotStored indicates that nothing was stored, because the error occurred before anything
	// could be stored.
	ErrNotStored = errors.New("ledger: nothing was stored")

	// ErrNotFound indicates that there is no such receipt.
	ErrNotFound = errors.New("ledger: no such receipt")
)
