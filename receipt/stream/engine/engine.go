// Package engine verifies receipts on the workers of an engine, which join them by package
// join: workers read inputs, each by itself, and the engine groups their records.
//
//   - [Leaves] reads an input for the tree of a checkpoint over all inputs. It is not needed
//     without a checkpoint.
//   - [Records] verifies an input and hands a record of each receipt to the engine. In a
//     second reading the engine says with it what it found of the receipt's link.
//   - [Conclude] makes the summary of what the engine found.
//
// The summary is the one of [stream.VerifyFiles] over all inputs at once.
package engine

import (
	"context"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/task"
	"github.com/receiptkit/receiptkit/receipt/stream/join"
)

// Leaves calls leaf for every document of sources in their order. The documents are only
// read for their leaves, and nothing is verified. An error of leaf ends the reading and is
// returned.
func Leaves(ctx context.Context, sources []stream.Source, o stream.Options, leaf func(join.Leaf) error) error {
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true}) // it judges no receipt
	if err != nil {
		return err
	}
	_, err = stream.VerifyFiles(ctx, v, sources, o).Do(task.Task{Leaf: leaf}).Summary()
	return err
}

// Records verifies the receipts of sources and calls place for every document that counts,
// in the order of the input. The record states what the receipt is on its own, at the index
// that it has in its source. What the call leaves in its Mark and Related is what the report
// says of its link: join.MarkLinked, which is there before the call, that it holds, and
// join.MarkCopy that the receipt does not count. The record is valid until the call returns;
// it is nil for a document that states no place. An error of place ends the run.
//
// With [stream.Options.Checkpoint], tree is what the leaves of all inputs add up to: its Source
// is counted from the first of sources. Nil: the tree is that of sources alone.
//
// The summary is of documents alone, without streams.
func Records(ctx context.Context, v *receipt.Verifier, sources []stream.Source, o stream.Options, tree *join.Tree, place func(*join.Record) error) *stream.Run {
	return stream.VerifyFiles(ctx, v, sources, o).Do(task.Task{Place: place, Tree: tree})
}

// Conclude returns the summary of what an engine found. Nothing is read: Inputs and Skipped
// are the caller's to fill in. With [stream.Options.Checkpoint], tree is what the leaves of all
// inputs add up to.
func Conclude(ctx context.Context, v *receipt.Verifier, found *join.Result, o stream.Options, tree *join.Tree) (*stream.Summary, error) {
	return stream.VerifyFiles(ctx, v, nil, o).Do(task.Task{Joined: found, Tree: tree}).Summary()
}
