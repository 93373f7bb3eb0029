package ledger

import (
	"context"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
)

// Tree returns the tree for a checkpoint of the receipts that a query selects. The tree includes
// pruned receipts, and its leaves are in the order of Walk. The leaves are computed from the
// content of the receipts, not from the stored hashes. For pruned receipts, the leaves are the
// stored hashes, which match the roots of checkpoints.
func Tree(ctx context.Context, r Reader, q Query) (*merkle.Tree, error) {
	if p, ok := r.(Pruner); ok {
		if _, err := Prunings(ctx, p); err != nil {
			return nil, err
		}
	}

	q.Pruned = true
	tree, doc := new(merkle.Tree), new(canon.Document)
	for row, err := range r.Walk(ctx, q, 0) {
		if err != nil {
			return nil, err
		}

		// The leaf is computed from the content, and not from the hash in the row or in the
		// receipt.
		hash := row.Hash
		if !row.Pruned {
			if hash, err = contentHash(doc, &row); err != nil {
				return nil, err
			}
		}
		tree.Append(receipt.CheckpointLeaf(hash))
	}

	return tree, nil
}

// contentHash computes the hash of a stored receipt. If the result differs from the hash in the
// receipt, the error is a *Fault.
func contentHash(doc *canon.Document, r *Row) (canon.Digest, error) {
	if err := doc.Parse(r.JSON, canon.Limits{}); err != nil {
		return canon.Digest{}, r.unreadable(err)
	}
	hash, err := chain.Hash(doc)
	if link, ok := chain.LinkOf(doc); err != nil || !ok || link.Hash != hash {
		return hash, r.fault(string(receipt.CodeHashMismatch), "its content does not fit its hash")
	}
	return hash, nil
}
