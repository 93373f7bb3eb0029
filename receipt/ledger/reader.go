package ledger

import (
	"context"
	"iter"

	"github.com/receiptkit/receiptkit/receipt"
)

// A Reader is a Store from which receipts can be read in the order in which they were stored.
//
// The order is the same for all readers and never changes. The receipts of a walk are a prefix of
// every later walk, and a receipt that becomes visible later follows all receipts that were visible
// before. A store with concurrent writers must therefore not show a receipt while a receipt with a
// smaller sequence may still be committed. Cursors and checkpoints depend on this order. Otherwise,
// a cursor would skip receipts forever, and a checkpoint's root would change.
//
// Rows that Walk yields are intact ([Row.Intact]); for an altered row, Walk yields a *[Fault]
// instead.
type Reader interface {
	Store

	// Walk yields the receipts that a query selects and whose sequence is greater than after, in
	// the order in which they were stored. Pruned receipts are omitted unless the query selects
	// them. If receipts are pruned before Walk has yielded them, it ends with ErrPruneChanged.
	// Receipts that are stored in the meantime may be included. No lock is held while the caller
	// processes a receipt. An error ends the walk.
	Walk(ctx context.Context, q Query, after int64) iter.Seq2[Row, error]

	// Streams returns the streams with their stated heads, in the order of chain.Stream.Compare.
	// The heads may have been altered; [Heads] compares them with the last receipts.
	Streams(ctx context.Context) ([]StreamHead, error)
}

// A Replacer is a Store that can add signatures to stored receipts.
type Replacer interface {
	Store

	// Replace durably replaces the bytes of a stored receipt if they still equal was, and reports
	// whether it did. The hash stays the same. The error is or wraps ErrNotStored. After any other
	// error, the receipt may or may not be replaced.
	Replace(ctx context.Context, was, is *receipt.Sealed) (replaced bool, err error)
}

// A Pruner is a Reader that can remove the content of its oldest receipts.
type Pruner interface {
	Reader

	// Prunings returns the stated prunings, oldest first. They may have been altered; [Prunings]
	// compares them with the receipts' hashes.
	Prunings(ctx context.Context) ([]Pruning, error)

	// Hashes yields the rows of all receipts up to a sequence, in the order in which they were
	// stored. Only Sequence and Hash are set in each row, and the rows are not verified.
	Hashes(ctx context.Context, last int64) iter.Seq2[Row, error]

	// Cut removes the content of receipts and records the pruning in one transaction, if
	// [Cut.Compare] returns no error in that transaction. The error is or wraps ErrPruneChanged, a
	// *[Fault], or ErrNotStored. After any other error, either all or none of the receipts are
	// pruned.
	Cut(ctx context.Context, c *Cut) error
}

// An Auditor is a Reader that can check its own structures.
type Auditor interface {
	Reader

	// Audit checks the database's structures, and reports the faults that it finds. It also reports
	// rows that belong to no stream, or that follow their stream's stated head. Marked reports
	// whether the end of the ledger was compared with an external record. An error ends the check.
	Audit(ctx context.Context, report func(Fault)) (marked bool, err error)
}
