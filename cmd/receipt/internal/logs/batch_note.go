package logs

import (
	"context"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// readLeaves returns the leaf hashes of the receipts of the input, at most those
// of a tree of the size, and calls each with all of them.
func readLeaves(ctx context.Context, selected *meant, long bool, size uint64, each func(id string, hash canon.Digest)) (leaves []merkle.Hash, err error) {
	add := func(id string, hash canon.Digest) {
		each(id, hash)
		if uint64(len(leaves)) < size {
			leaves = append(leaves, receipt.CheckpointLeaf(hash))
		}
	}

	for e, err := range selected.pruned {
		if err != nil {
			return nil, ledgerReading(err)
		}
		add(e.ID, e.Hash)
	}

	if selected.all {
		return leaves, nil
	}
	err = selected.Each(ctx, long, func(d *stream.Document) error {
		hash, err := hashOf(d)
		if err != nil {
			return err
		}
		add(d.Root().Member("receipt_id").String(), hash)
		return nil
	})
	return leaves, err
}

// hashOf computes the hash of a receipt, which has to be the one that it states.
func hashOf(d *stream.Document) (canon.Digest, error) {
	link, placed := chain.LinkOf(d.Document)
	if d.Root().Member("schema").String() != receipt.SchemaMarker || !placed {
		if err := input.RefuseUnsealed(d); err != nil {
			return canon.Digest{}, err
		}
		return canon.Digest{}, cli.Refuted("receipt verify --integrity-only "+cli.ShellFile(d.Address())+" shows why", "%q: %s: a tree is over receipts", d.Address(), receipt.CodeNotAReceipt)
	}
	hash, err := chain.Hash(d.Document)
	switch {
	case errors.Is(err, chain.ErrNotObject):
		return hash, cli.Refuted("", "%q: %w", d.Address(), err)
	case err == nil && hash != link.Hash:
		err = cli.Refuted("receipt show "+cli.ShellFile(d.Address())+" shows it", "%q: %s: stated %s, computed %s", d.Address(), receipt.CodeHashMismatch, link.Hash, hash)
	}
	return hash, err
}
