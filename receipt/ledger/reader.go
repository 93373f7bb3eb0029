package ledger

import (
	"context"
	"iter"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Reader is a Store whose receipts can be read in the order in which they were stored.
//
// The order is the same for all readers, forever. What a walk yielded is a prefix of every later
// walk, and a receipt that becomes visible later follows all that were visible before. A store with
// concurrent writers must therefore not show a receipt while one with a smaller sequence may still
// be committed. Cursors and checkpoints depend on this: otherwise, a cursor skips receipts forever,
// and the root of a checkpoint changes.
//
// A reader compares each row with the receipt in it, and returns a *[DamageError] instead of a row
// that was altered.
type Reader interface {
	Store

	// Walk yields the receipts of a query with a sequence greater than after, in the order in which
	// they were stored. Pruned receipts are omitted unless the query selects them. If receipts are
	// pruned before Walk has yielded them, it ends with ErrPruneChanged. Receipts that are stored
	// in the meantime may be included. No lock is held while the caller works. An error ends the
	// walk.
	Walk(ctx context.Context, q Query, after int64) iter.Seq2[Entry, error]

	// ByHash returns the receipt with a hash. The error is or wraps ErrNotFound, a *[DamageError],
	// or an error of reading.
	ByHash(ctx context.Context, hash canon.Digest) (Entry, error)

	// Streams returns the streams, in the order of chain.Stream.Compare. Each head is compared with
	// the last receipt of its stream.
	Streams(ctx context.Context) ([]StreamHead, error)
}

// A Locator is a Reader that knows the place of a receipt without trusting its content. Package
// served requires one.
type Locator interface {
	Reader

	// StreamOf returns the stream in which a receipt was stored, and whether there is such a
	// receipt, without reading the receipt.
	StreamOf(ctx context.Context, receiptID string) (s chain.Stream, found bool, err error)

	// Linked returns the stored bytes of a receipt for verification: their content may be altered,
	// and they may not be a receipt at all. If they belong to another receipt or another position,
	// the error is a *[DamageError]; for a pruned receipt, it is a *[PrunedError]. The link passes
	// if the receipt follows the one before it. It is refuted if it does not, or if an earlier
	// receipt follows the same predecessor. The link of an unreadable receipt is not checked.
	Linked(ctx context.Context, receiptID string) (json []byte, link receipt.Check, err error)

	// CountPruned returns how many of the receipts of a query were pruned.
	CountPruned(ctx context.Context, q Query) (int64, error)
}

// A Replacer is a Store that can add signatures to stored receipts.
type Replacer interface {
	Store

	// Replace durably replaces the bytes of a stored receipt if they are still those of was, and
	// reports whether it did. The hash stays the same. The error is or wraps ErrNotStored; after
	// any other error, the receipt may or may not be replaced.
	Replace(ctx context.Context, was, is *receipt.Sealed) (replaced bool, err error)
}

// A Pruner is a Reader whose first receipts can lose their content.
type Pruner interface {
	Reader

	// Prunings returns the prunings, the first one first. Each is compared with the kept hashes of
	// its receipts by [Proven].
	Prunings(ctx context.Context) ([]Pruning, error)

	// Cut removes the content of receipts and records the pruning, in one transaction, if they are
	// still what was compared. The error is or wraps ErrPruneChanged, a *[DamageError], or
	// ErrNotStored. After any other error, either all receipts are pruned or none.
	Cut(ctx context.Context, c *Cut) error
}

// A Run is a sequence of receipts of one stream, each of which follows the one before it.
type Run struct {
	Stream   chain.Stream
	Previous chain.Head // which the first receipt follows
	Receipts []*receipt.Sealed
}

// A BatchStore is a Reader that appends to several streams in one transaction. [Import] requires it,
// because otherwise each change of the stream would cost a transaction.
type BatchStore interface {
	Reader

	// AppendRuns appends runs in their order, as Append does. Either all are stored, or nothing.
	AppendRuns(ctx context.Context, runs []Run) error
}
