package batch

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// Check checks that a receipt is the one that the manifest lists under its id:
// its leaf and its hash, both computed from the receipt, are those listed, and
// it states the root. Whether the receipt is authentic is the business of
// [receipt.Verifier]. The error is a *[NotListedError] or a *[MismatchError],
// or [chain.ErrNotObject].
func (m *Manifest) Check(d *canon.Document) error {
	hash, err := chain.Hash(d)
	if err != nil {
		return err
	}

	id := d.Root().Member("receipt_id").String()
	i, ok := m.index[id]
	if !ok {
		return &NotListedError{id}
	}

	// The leaf first: a receipt with other content has another hash too.
	e, place := m.entries[i], fmt.Sprintf("/receipts/%d/", i)
	if leaf := receipt.BatchLeaf(d); leaf != e.Leaf {
		return &MismatchError{id, place + "leaf_hash", canon.Digest(e.Leaf), canon.Digest(leaf), ""}
	}
	if root := statedRoot(d); root != m.root {
		return &MismatchError{id, "/merkle_root", m.root, root, m.Explain(root)}
	}
	if hash != e.ReceiptHash {
		return &MismatchError{id, place + "receipt_hash", e.ReceiptHash, hash, ""}
	}

	return nil
}

// statedRoot returns the root that a receipt states; zero when it states none
// that is a digest.
func statedRoot(d *canon.Document) canon.Digest {
	root, err := canon.ParseDigest(d.Root().Member("chain").Member("merkle_root").Text())
	if err != nil {
		return canon.Digest{}
	}
	return root
}
