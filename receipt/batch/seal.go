package batch

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Batch is receipts that state one root, in order, and the manifest of them.
type Batch struct {
	Receipts []*receipt.Sealed
	Manifest *Manifest
}

// Seal makes one batch of drafts, in their order. The first draft of each stream
// is linked to the head of that stream; a stream that is not in heads is new.
// The others follow the draft before them. A nil signer leaves the receipts
// unsigned, to be signed one by one. Without a signer, the same drafts and heads
// give the same bytes.
//
// The drafts are what [receipt.SealDocument] takes, without a merkle_root, and
// no two have one receipt_id. If any draft cannot be sealed, nothing is: the
// error then joins a *[DraftError] for each such draft (errors.Join), and each
// names every problem of its draft. At most [MaxEntries] drafts make a batch.
func Seal(ctx context.Context, drafts []*canon.Document, heads map[chain.Stream]chain.Head, signer receipt.Signer) (*Batch, error) {
	if err := checkCount(len(drafts)); err != nil {
		return nil, err
	}

	// Twice over all drafts: the root lies in each receipt, and is made of every leaf.
	leaves, err := leavesOf(ctx, drafts, heads)
	if err != nil {
		return nil, err
	}
	b, err := link(ctx, drafts, heads, leaves)
	if err != nil || signer == nil {
		return b, err
	}

	// Signatures lie outside the hash, so they come last.
	for i, r := range b.Receipts {
		if b.Receipts[i], err = r.Sign(ctx, signer); err != nil {
			return nil, &DraftError{i, err}
		}
	}

	return b, nil
}

// leavesOf returns the leaf hashes, or the errors of all drafts.
func leavesOf(ctx context.Context, drafts []*canon.Document, heads map[chain.Stream]chain.Head) ([]merkle.Hash, error) {
	t := trial{heads, make(map[chain.Stream]int), make(map[string]int)}
	leaves := make([]merkle.Hash, len(drafts))
	var failures []error
	for i, d := range drafts {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("batch: %w", err)
		}
		leaf, err := t.leaf(i, d)
		if err != nil {
			failures = append(failures, &DraftError{i, err})
		}
		leaves[i] = leaf
	}
	return leaves, errors.Join(failures...)
}

// link seals the drafts one after another, under the root of their leaves.
func link(ctx context.Context, drafts []*canon.Document, heads map[chain.Stream]chain.Head, leaves []merkle.Hash) (*Batch, error) {
	root := canon.Digest(merkle.Root(leaves))
	receipts, entries := make([]*receipt.Sealed, len(drafts)), make([]Entry, len(drafts))

	// A copy: the heads are the caller's.
	latest := maps.Clone(heads)
	if latest == nil {
		latest = make(map[chain.Stream]chain.Head)
	}

	for i, d := range drafts {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("batch: %w", err)
		}
		filled, err := fill(d, root, "")
		if err != nil {
			return nil, &DraftError{i, err}
		}
		r, err := receipt.SealDocument(filled, latest[chain.StreamOf(d)])
		if err != nil {
			return nil, &DraftError{i, err}
		}
		receipts[i], entries[i] = r, Entry{r.ID(), leaves[i], r.Hash()}
		latest[r.Stream()] = r.Head()
	}

	// No batch is made whose manifest nobody could read.
	m := newManifest(entries)
	if size := len(m.Marshal()); size > MaxBytes {
		return nil, fmt.Errorf("batch: the manifest would have %d bytes, and at most %d are read", size, MaxBytes)
	}

	return &Batch{receipts, m}, nil
}
