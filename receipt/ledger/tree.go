package ledger

import (
	"context"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
)

// Tree returns the tree of a checkpoint over the receipts of a query, in the order
// of Scan. Its leaves are of the hashes that are computed from the receipts, not
// of those that are stored beside them.
func (l *SQLite) Tree(ctx context.Context, q Query) (*merkle.Tree, error) {
	tree, doc := new(merkle.Tree), new(canon.Document)
	for e, err := range l.Scan(ctx, q) {
		if err != nil {
			return nil, err
		}
		if err := doc.Parse(e.JSON, canon.Limits{}); err != nil {
			return nil, unreadable(e.ID, chain.Stream{}, err)
		}

		// The leaf is of the content, whatever the row or the receipt states.
		hash, err := chain.Hash(doc)
		if link, ok := chain.LinkOf(doc); err != nil || !ok || link.Hash != hash {
			return nil, &DamageError{string(receipt.CodeHashMismatch), e.ID, chain.StreamOf(doc), "its content does not fit its hash"}
		}
		tree.Append(receipt.CheckpointLeaf(hash))
	}

	return tree, nil
}
