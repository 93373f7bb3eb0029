// Package ledger issues receipts so that none is lost and no chain forks, and
// keeps them.
//
//	store, err := ledger.Open(ctx, "receipts.db")
//	issuer := &ledger.Issuer{Store: store, Signer: signer} // or Unsigned
//	sealed, err := issuer.Issue(ctx, &draft)
//
// # Issuing
//
// An Issuer asks the Store for the head of the draft's stream, links, looks for
// secrets, seals and signs, and appends the receipt if the head is still the same
// (compare and swap); otherwise it begins anew with the new head. Signing may take
// long, so nothing is locked meanwhile. Any number of goroutines and processes
// may issue at once; they queue up, so that none waits for ever. The drafts that
// wait for one stream in one process are committed together: a group costs about
// as much as one.
//
// # When the outcome is unknown
//
// An error of the disk or of the network, a crash, a deadline: the receipt may be
// stored or not. Issue the same draft again, with the same receipt_id. If the
// first attempt was stored, its receipt is returned and no second one is made.
// Only another content under that id is ErrDuplicateID. [Issuer.IssueUntilKnown] does so by
// itself.
//
// # Keeping
//
// SQLite is one file (and its -wal and -shm beside it while it is in use), written
// with a write-ahead log that is synced before Append returns. FILE-head beside it
// says how far it got: a ledger that lacks something of that is not written into, and
// Check tells. Every row is compared with the receipt that it holds by whoever reads
// it; Check names all that are damaged. The file is watched: when it is deleted,
// replaced or cut while it is open, nothing more is acknowledged.
//
// Old receipts can be pruned: when a signed checkpoint is over the first of them and an
// archive has each, byte for byte, their content is taken out of the ledger. Ids, hashes and
// places stay, and so do the chain and all proofs.
//
// It can be read by those who may not write, on a read-only medium and on a full disk as well.
//
// # Stability
//
// This package may still change: it is not of the frozen core. A ledger that one version
// wrote is read by all later ones.
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
