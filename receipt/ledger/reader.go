package ledger

import (
	"context"
	"iter"

	"github.com/receiptkit/receiptkit/receipt"
)

// A Reader is a Store whose receipts can be read in the order in which they were stored.
//
// This order is the same for all callers and never changes. The receipts of a walk are a prefix of
// every later walk, and a receipt that becomes visible later comes after all receipts that were
// visible before. A store with concurrent writers must therefore not show a receipt while a receipt
// with a lower sequence number might still be committed. Cursors and checkpoints depend on this
// order. If the order changed, a cursor could skip receipts forever, and the root of a checkpoint
// could change.
//
// Walk yields only intact rows (see [Row.Intact]); for a row that was altered, it yields a
// *[Fault].
type Reader interface {
	Store

	// Walk yields the receipts that a query selects and whose sequence numbers are greater than
	// after, in the order in which they were stored. Pruned receipts are omitted, unless the query
	// selects them. If receipts are pruned before Walk has yielded them, Walk ends with
	// ErrPruneChanged. Receipts that are stored during the walk may be included. Walk holds no lock
	// while the caller processes a receipt. Walk ends after the first error.
	Walk(ctx context.Context, q Query, after int64) iter.Seq2[Row, error]

	// Streams returns all streams and their heads according to the database, in the order that
	// chain.Stream.Compare defines. The heads may have been altered; [Heads] compares them with the
	// last receipts.
	Streams(ctx context.Context) ([]StreamHead, error)
}

// A Replacer is a Store in which signatures can be added to stored receipts.
type Replacer interface {
	Store

	// Replace durably replaces the stored bytes of a receipt, and reports whether it replaced them.
	// Nothing is replaced if the stored bytes no longer match was, the old receipt. The hash of the
	// receipt must not change. If an error occurred and nothing was replaced, the error is or wraps
	// ErrNotStored. After any other error, the receipt may or may not have been replaced.
	Replace(ctx context.Context, was, is *receipt.Sealed) (replaced bool, err error)
}

// A Pruner is a Reader in which the content of the oldest receipts can be removed.
type Pruner interface {
	Reader

	// Prunings returns the prunings that are recorded in the database, oldest first. They may have
	// been altered; the function [Prunings] compares them with the hashes of the receipts.
	Prunings(ctx context.Context) ([]Pruning, error)

	// Hashes yields the rows of all receipts up to the sequence number last, in the order in which
	// the receipts were stored. Each row contains only Sequence and Hash, and has not been
	// verified.
	Hashes(ctx context.Context, last int64) iter.Seq2[Row, error]

	// Cut calls [Cut.Compare] in a transaction. If there is no error, Cut removes the content of
	// the receipts and records the pruning in the same transaction. The error is or wraps
	// ErrPruneChanged, a *[Fault], or ErrNotStored. After any other error, either all of the
	// receipts or none of them have been pruned.
	Cut(ctx context.Context, c *Cut) error
}

// An Auditor is a Reader that can check its own structures.
type Auditor interface {
	Reader

	// Audit checks the structures of the database, and reports the faults that it finds. It also
	// reports rows that belong to no stream, and rows after the head that is recorded for their
	// stream. marked reports whether the end of the ledger was compared with an external record. An
	// error means that the check could not be completed.
	Audit(ctx context.Context, report func(Fault)) (marked bool, err error)
}
