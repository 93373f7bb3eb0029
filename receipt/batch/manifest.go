package batch

import (
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle"
)

// A Manifest lists the receipts of one batch, in order. It comes from [Seal] or
// [ParseManifest], does not change and is safe for concurrent use.
type Manifest struct {
	root    canon.Digest
	entries []Entry
	index   map[string]int // by receipt_id
}

// newManifest computes the root over entries, which it keeps. The ids must
// differ.
func newManifest(entries []Entry) *Manifest {
	m := &Manifest{entries: entries, index: make(map[string]int, len(entries))}
	var tree merkle.Tree
	for i, e := range entries {
		tree.Append(e.Leaf)
		m.index[e.ReceiptID] = i
	}
	m.root = canon.Digest(tree.Root())
	return m
}

// Root returns the root: the chain.merkle_root of every receipt of the batch.
func (m *Manifest) Root() canon.Digest { return m.root }

// Entries returns a copy of the list.
func (m *Manifest) Entries() []Entry { return slices.Clone(m.entries) }

// Leaf returns the leaf hash that is listed for a receipt. To show that a
// receipt is in the batch, compare it with the one computed from the receipt
// (receipt.BatchLeaf), as [Manifest.Check] does.
func (m *Manifest) Leaf(receiptID []byte) (merkle.Hash, bool) {
	i, ok := m.index[string(receiptID)]
	if !ok {
		return merkle.Hash{}, false
	}
	return m.entries[i].Leaf, true
}

// ReceiptHash returns the receipt_hash that is listed for a receipt; zero when
// the receipt is not listed.
func (m *Manifest) ReceiptHash(receiptID []byte) canon.Digest {
	i, ok := m.index[string(receiptID)]
	if !ok {
		return canon.Digest{}
	}
	return m.entries[i].ReceiptHash
}

// Prove returns the index of a receipt, and the proof that its leaf is in the
// tree (RFC 9162 section 2.1.3.1), for [merkle.CheckInclusion]. It shows that
// the receipt is in the batch without showing the ids of the others. The time is
// linear in the size of the batch. The error is a *[NotListedError].
func (m *Manifest) Prove(receiptID string) (index uint64, proof []merkle.Hash, err error) {
	i, ok := m.index[receiptID]
	if !ok {
		return 0, nil, &NotListedError{receiptID}
	}
	proof, err = merkle.ProveInclusion(m.leaves(), uint64(i))
	return uint64(i), proof, err
}

func (m *Manifest) leaves() []merkle.Hash {
	leaves := make([]merkle.Hash, len(m.entries))
	for i, e := range m.entries {
		leaves[i] = e.Leaf
	}
	return leaves
}

// Marshal returns the manifest in canonical form (RFC 8785) and a newline.
func (m *Manifest) Marshal() []byte {
	b := canon.AppendString([]byte(`{"batch_version":1,"merkle_root":`), m.root.String())
	b = append(b, `,"profile":"content","receipts":[`...)
	for i, e := range m.entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.append(b)
	}
	return append(b, "]}\n"...)
}
