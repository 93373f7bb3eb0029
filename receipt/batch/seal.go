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

// A Batch is an ordered list of receipts that state the same root, with their manifest.
type Batch struct {
	Receipts []*receipt.Sealed
	Manifest *Manifest
}

// Seal creates a batch from drafts, in their order. The first draft of each stream is linked to the
// head of that stream. A stream that is not in heads is new. The other drafts are linked to the
// previous draft of their stream. If signer is nil, the receipts are not signed, and can be signed
// individually. Without a signer, the same drafts and heads always result in the same bytes.
//
// The drafts are documents that [receipt.SealDocument] accepts, without a merkle_root and with
// distinct receipt_ids. If any draft cannot be sealed, no draft is sealed. The error then joins one
// *[DraftError] for each such draft (errors.Join), and each lists every problem of its draft. A
// batch has at most [MaxEntries] drafts.
func Seal(ctx context.Context, drafts []*canon.Document, heads map[chain.Stream]chain.Head, signer receipt.Signer) (*Batch, error) {
	if err := checkCount(len(drafts)); err != nil {
		return nil, err
	}

	// Two passes over the drafts are needed, because each receipt contains the root, which depends
	// on every leaf.
	leaves, err := leavesOf(ctx, drafts, heads)
	if err != nil {
		return nil, err
	}
	b, err := link(ctx, drafts, heads, leaves)
	if err != nil || signer == nil {
		return b, err
	}

	// Signatures are outside the hash, so they are added last.
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

// link seals the drafts one after another, with the root of their leaves.
func link(ctx context.Context, drafts []*canon.Document, heads map[chain.Stream]chain.Head, leaves []merkle.Hash) (*Batch, error) {
	root := canon.Digest(merkle.Root(leaves))
	receipts, entries := make([]*receipt.Sealed, len(drafts)), make([]Entry, len(drafts))

	// Copy the heads, because the map belongs to the caller.
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

	// Reject a batch whose manifest would be too large to be parsed.
	m := newManifest(entries)
	if size := len(m.Marshal()); size > MaxBytes {
		return nil, fmt.Errorf("batch: the manifest would have %d bytes; the maximum is %d", size, MaxBytes)
	}

	return &Batch{receipts, m}, nil
}

// A trial seals drafts before their root is known, with a placeholder of the same length. It finds
// every problem, and computes the leaves, which contain neither the root nor the links.
type trial struct {
	heads  map[chain.Stream]chain.Head
	latest map[chain.Stream]int // index of the latest draft in each stream
	ids    map[string]int       // index of the draft that has the receipt_id
}

// leaf returns the leaf hash of the draft at index i. The error is a *[receipt.InvalidError], or an
// internal error.
func (t *trial) leaf(i int, draft *canon.Document) (merkle.Hash, error) {
	before, head, without := t.place(i, chain.StreamOf(draft))
	problems := append(misplaced(draft.Root(), before), t.repeated(i, draft.Root().Member("receipt_id"))...)

	filled, err := fill(draft, canon.Sum(nil), without)
	var sealed *receipt.Sealed
	if err == nil {
		sealed, err = receipt.SealDocument(filled, head)
	}

	// The problems that sealing finds are joined with those that the batch finds, so that all
	// problems of a draft are reported together.
	var invalid *receipt.InvalidError
	if errors.As(err, &invalid) {
		problems = append(problems, invalid.Problems...)
	} else if err != nil {
		return merkle.Hash{}, err
	}
	if len(problems) > 0 {
		return merkle.Hash{}, &receipt.InvalidError{Problems: problems}
	}

	// Use the sealed form, because sealing may add the schema marker.
	return receipt.BatchLeaf(sealed.Document()), nil
}

// place returns the index of the previous draft in the stream, and the head to use for the trial.
// If there is no previous draft, the index is -1 and the head is the head of the stream. Otherwise,
// the head is a placeholder. In that case, a link in the draft itself is always a problem and must
// be omitted.
func (t *trial) place(i int, stream chain.Stream) (before int, head chain.Head, without string) {
	before, found := t.latest[stream]
	t.latest[stream] = i
	if found {
		return before, chain.Head{Hash: canon.Sum(nil)}, previousMember
	}
	return -1, t.heads[stream], ""
}

// repeated reports a receipt_id that an earlier draft has.
func (t *trial) repeated(i int, id canon.Node) []receipt.Problem {
	if id.Kind() != canon.KindString {
		return nil // the schema check reports it
	}
	first, found := t.ids[id.String()]
	if !found {
		t.ids[id.String()] = i
		return nil
	}
	return []receipt.Problem{{Pointer: "/receipt_id", Code: receipt.CodeRepeatedID,
		Detail: fmt.Sprintf("draft %d has the same receipt_id; a batch has each receipt once", first)}}
}
