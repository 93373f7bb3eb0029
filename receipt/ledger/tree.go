package ledger

import (
	"context"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
)

// Tree returns the tree of a checkpoint of the receipts of a query, in the order of Walk, including
// pruned ones. Its leaves are computed from the content of the receipts, not from the stored
// hashes. Those of pruned receipts are the hashes that match the roots of their checkpoints.
func Tree(ctx context.Context, r Reader, q Query) (*merkle.Tree, error) {
	if p, ok := r.(Pruner); ok {
		if _, err := p.Prunings(ctx); err != nil {
			return nil, err
		}
	}

	q.Pruned = true
	tree, doc := new(merkle.Tree), new(canon.Document)
	for e, err := range r.Walk(ctx, q, 0) {
		if err != nil {
			return nil, err
		}

		// The leaf is that of the content, regardless of the hash in the row or the receipt.
		hash := e.Hash
		if e.JSON != nil {
			if hash, err = contentHash(doc, &e); err != nil {
				return nil, err
			}
		}
		tree.Append(receipt.CheckpointLeaf(hash))
	}

	return tree, nil
}

// contentHash returns the hash that is computed from a stored receipt, if the receipt states the
// same one.
func contentHash(doc *canon.Document, e *Entry) (canon.Digest, error) {
	if err := doc.Parse(e.JSON, canon.Limits{}); err != nil {
		return canon.Digest{}, Unreadable(e.ID, chain.Stream{}, err)
	}
	hash, err := chain.Hash(doc)
	if link, ok := chain.LinkOf(doc); err != nil || !ok || link.Hash != hash {
		return hash, &DamageError{string(receipt.CodeHashMismatch), e.ID, chain.StreamOf(doc), "its content does not fit its hash"}
	}
	return hash, nil
}
