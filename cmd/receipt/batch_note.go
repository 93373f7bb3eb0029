package main

import (
	"context"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// readLeaves returns the leaf hashes of the receipts of the input, at most those
// of a tree of the size, and calls each with all of them.
func readLeaves(ctx context.Context, selected *selection, long bool, size uint64, each func(*stream.Document, canon.Digest)) (leaves []merkle.Hash, err error) {
	err = selected.each(ctx, long, func(d *stream.Document) error {
		hash, err := hashOf(d)
		if err != nil {
			return err
		}
		each(d, hash)
		if uint64(len(leaves)) < size {
			leaves = append(leaves, receipt.CheckpointLeaf(hash))
		}
		return nil
	})
	return leaves, err
}

// hashOf computes the hash of a receipt, which has to be the one that it states.
func hashOf(d *stream.Document) (canon.Digest, error) {
	link, placed := chain.LinkOf(d.Document)
	if d.Root().Member("schema").String() != receipt.SchemaMarker || !placed {
		return canon.Digest{}, refuted("receipt verify --integrity-only shows why", "%q: %s: a tree is over receipts", d.Address(), receipt.CodeNotAReceipt)
	}
	hash, err := chain.Hash(d.Document)
	switch {
	case errors.Is(err, chain.ErrNotObject):
		return hash, refuted("", "%q: %w", d.Address(), err)
	case err == nil && hash != link.Hash:
		err = refuted("receipt show "+shellFile(d.Address())+" shows it", "%q: %s: stated %s, computed %s", d.Address(), receipt.CodeHashMismatch, link.Hash, hash)
	}
	return hash, err
}

// over checks that a checkpoint is over the first of the leaves.
func (h *head) over(leaves []merkle.Hash) error {
	if n := uint64(len(leaves)); n < h.Size {
		return h.tooLarge(n)
	}
	return h.checkRoot(merkle.Root(leaves[:h.Size]))
}

func (h *head) tooLarge(n uint64) error {
	return refuted("give all receipts that it is over, in their order", "%s: %q is over %s, the input has %d",
		receipt.CodeTruncated, sourceName(h.path), leavesText(h.Size), n)
}

// checkRoot compares the root over as many receipts as the checkpoint is over.
func (h *head) checkRoot(root merkle.Hash) error {
	if root == h.Root {
		return nil
	}
	return refuted("give the receipts that it is over, in their order", "%s: the root over the first %s is %v, %q states %v",
		receipt.CodeMerkleRootMismatch, leavesText(h.Size), root, sourceName(h.path), h.Root)
}
