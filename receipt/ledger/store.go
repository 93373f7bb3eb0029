// Package ledger issues and stores receipts. A crash loses no receipt that was acknowledged, and
// issuers that work at the same time do not fork a chain.
//
//	store, err := sqlite.Open(ctx, "receipts.db")
//	issuer := &ledger.Issuer{Store: store, Signer: signer} // or Unsigned
//	sealed, err := issuer.Issue(ctx, &draft)
//
// # Issuing
//
// An Issuer gets the head of the draft's stream from the Store, links, checks for secrets, seals,
// and signs. It appends the receipt if the head is still the same (compare and swap); otherwise, it
// starts again with the new head. Signing may take long, so nothing is locked in the meantime. Any
// number of goroutines and processes may issue at the same time; a [TurnStore] orders them. The
// drafts that wait for one stream in one process are committed together: a group costs about as
// much as one draft.
//
// # When the outcome is unknown
//
// After an error of the disk or of the network, a crash, or a deadline, the receipt may or may not
// be stored. Issue the same draft again, with the same receipt_id. If the first attempt was stored,
// its receipt is returned and no second one is created. Only other content under that ID is
// ErrDuplicateID. [Issuer.IssueUntilKnown] repeats the attempt itself, and an [IssueError] states
// what was stored.
//
// # Stores
//
// This package contains what all databases have in common, and links none of them: package sqlite
// keeps a ledger in a file. A program that implements [Store] for another database can issue, and
// one that implements [Reader] can list, check, import, export, compute trees, and serve.
// [Replacer] and [Pruner] add signing and pruning. A store stores the rows of [RowsOf] and returns
// them as it has them; the functions of this package compare them with the receipts.
//
// Old receipts can be pruned: if a signed checkpoint covers the first receipts of the ledger, and
// an archive contains each of them byte for byte, their content can be removed from the ledger.
// IDs, hashes, and positions stay, and so do the chain and all proofs.
//
// # Stability
//
// This package may still change: it is not part of the frozen core. A ledger that one version wrote
// can be read by all later versions.
package ledger

import (
	"context"
	"errors"

	"github.com/receiptkit/receiptkit/chain"
)

// A Store stores receipts and the heads of their streams. Package storetest tests any Store. Its
// methods must be safe for concurrent use.
type Store interface {
	// Head returns the head of a stream, or the zero Head if it has no receipt.
	Head(ctx context.Context, s chain.Stream) (chain.Head, error)

	// Append durably stores runs in their order, and makes the last receipt of each the head of its
	// stream, if the head is that of Previous at that moment. It is atomic with respect to other
	// callers. Only the hash of Previous is compared. RowsOf returns the rows to store, or the
	// reason why nothing may be stored.
	//
	// The error is or wraps ErrHeadMoved, ErrDuplicateID, or ErrNotStored; after any other error,
	// the runs may or may not be stored. Either all of them are stored, or nothing. An ID that is
	// taken is reported before a head that has moved. A store that is open read-only also wraps
	// errors.ErrUnsupported: trying again is useless.
	Append(ctx context.Context, runs ...Run) error

	// Find returns a row as the database has it, with its place if the database records places. It
	// may have been altered: [Get] and [Lookup] check it. If there is none, the error is or wraps
	// ErrNotFound. A row at a position that cannot be read is a *[Fault] with FaultUnreadable.
	Find(ctx context.Context, k Key) (*Row, error)
}

// A TurnStore is a Store that orders several issuers.
type TurnStore interface {
	Store

	// Turn waits until it is the caller's turn to append to a stream, but not indefinitely. Head
	// and Append are then called with the context that it returns. Head may return a head that is
	// about to be stored, unless the caller tries again. Done ends the turn, unless Append did; it
	// may be called more than once. Turns only save useless work, and let nobody wait forever:
	// Append alone decides.
	Turn(ctx context.Context, s chain.Stream, again bool) (of context.Context, done func())
}

var (
	// ErrHeadMoved indicates that a stream has another head than the one that a receipt was linked
	// to. Nothing was stored.
	ErrHeadMoved = errors.New("ledger: head of the stream has changed")

	// ErrDuplicateID indicates that another receipt with other content has the receipt_id. Nothing
	// was stored.
	ErrDuplicateID = errors.New("ledger: receipt_id belongs to another receipt")

	// ErrUnsigned indicates that the receipt of a draft is already stored without a signature. It
	// may have been passed on in that form.
	ErrUnsigned = errors.New("ledger: receipt is already stored, without a signature")

	// ErrNotStored indicates that nothing was stored, because the error occurred earlier.
	ErrNotStored = errors.New("ledger: nothing was stored")

	// ErrNotFound indicates that there is no such receipt.
	ErrNotFound = errors.New("ledger: no such receipt")
)
