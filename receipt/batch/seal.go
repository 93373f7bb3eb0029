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

// A Batch contains receipts with the same root, in order, and their manifest.
type Batch struct {
	Receipts []*receipt.Sealed
	Manifest *Manifest
}

// Seal creates a batch from drafts, in the given order. The first draft in each stream is linked to
// the head of the stream, and every other draft is linked to the previous draft in its stream. If
// heads does not contain a stream, the stream is new. If signer is nil, the receipts are not
// signed, but each can be signed later. In this case, the same drafts and heads always result in
// the same bytes.
//
// A draft must be a document that [receipt.SealDocument] accepts, and must not have a merkle_root.
// Each draft must have a different receipt_id. If any draft cannot be sealed, none of them is
// sealed. In that case, the error joins one *[DraftError] for each such draft (see errors.Join),
// which lists all problems of the draft. A batch has at most [MaxEntries] drafts.
func Seal(ctx context.Context, drafts []*canon.Document, heads map[chain.Stream]chain.Head, signer receipt.Signer) (*Batch, error) {
	if err := checkCount(len(drafts)); err != nil {
		return nil, err
	}

	// The drafts are processed twice, because each receipt contains the root, and the root depends
	// on all leaves.
	leaves, err := leavesOf(ctx, drafts, heads)
	if err != nil {
		return nil, err
	}
	b, err := link(ctx, drafts, heads, leaves)
	if err != nil || signer == nil {
		return b, err
	}

	// The hash does not cover signatures, so they are added last.
	for i, r := range b.Receipts {
		if b.Receipts[i], err = r.Sign(ctx, signer); err != nil {
			return nil, &DraftError{i, err}
		}
	}

	return b, nil
}

// leavesOf returns the leaf hashes of the drafts, or all of their errors.
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

// link seals the drafts in order, with the root of their leaves.
func link(ctx context.Context, drafts []*canon.Document, heads map[chain.Stream]chain.Head, leaves []merkle.Hash) (*Batch, error) {
	root := canon.Digest(merkle.Root(leaves))
	receipts, entries := make([]*receipt.Sealed, len(drafts)), make([]Entry, len(drafts))

	// Copy the map, because it belongs to the caller.
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

	// Reject a batch whose manifest is too long to be parsed.
	m := newManifest(entries)
	if size := len(m.Marshal()); size > MaxBytes {
		return nil, fmt.Errorf("batch: the manifest would have %d bytes; the maximum is %d", size, MaxBytes)
	}

	return &Batch{receipts, m}, nil
}

// A trial seals drafts before the root is known. It uses a placeholder with the length of a root.
// It finds all problems, and computes the leaves, which depend neither on the root nor on links.
type trial struct {
	heads  map[chain.Stream]chain.Head
	latest map[chain.Stream]int // index of the last draft so far in each stream
	ids    map[string]int       // index of the draft with this receipt_id
}

// leaf returns the leaf hash of draft, whose index is i. The error is a *[receipt.InvalidError] or
// an internal error.
func (t *trial) leaf(i int, draft *canon.Document) (merkle.Hash, error) {
	before, head, without := t.place(i, chain.StreamOf(draft))
	problems := append(misplaced(draft.Root(), before), t.repeated(i, draft.Root().Member("receipt_id"))...)

	filled, err := fill(draft, canon.Sum(nil), without)
	var sealed *receipt.Sealed
	if err == nil {
		sealed, err = receipt.SealDocument(filled, head)
	}

	// Problems found by sealing and problems found by the batch are reported together.
	var invalid *receipt.InvalidError
	if errors.As(err, &invalid) {
		problems = append(problems, invalid.Problems...)
	} else if err != nil {
		return merkle.Hash{}, err
	}
	if len(problems) > 0 {
		return merkle.Hash{}, &receipt.InvalidError{Problems: problems}
	}

	// Use the sealed document, because sealing may add the schema marker.
	return receipt.BatchLeaf(sealed.Document()), nil
}

// place returns the index of the previous draft in the stream, the head for the trial, and the
// member to omit. If there is no previous draft, the index is -1 and the head is the head of the
// stream. Otherwise, the head is a placeholder, and any link in the draft is omitted, because the
// draft must not contain a link.
func (t *trial) place(i int, stream chain.Stream) (before int, head chain.Head, without string) {
	before, found := t.latest[stream]
	t.latest[stream] = i
	if found {
		return before, chain.Head{Hash: canon.Sum(nil)}, previousMember
	}
	return -1, t.heads[stream], ""
}

// repeated reports a receipt_id that an earlier draft already has.
func (t *trial) repeated(i int, id canon.Node) []receipt.Problem {
	if id.Kind() != canon.KindString {
		return nil // the schema check reports this
	}
	first, found := t.ids[id.String()]
	if !found {
		t.ids[id.String()] = i
		return nil
	}
	return []receipt.Problem{{Pointer: "/receipt_id", Code: receipt.CodeRepeatedID,
		Detail: fmt.Sprintf("draft %d has the same receipt_id; a batch has each receipt once", first)}}
}
