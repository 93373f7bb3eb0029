package batch

import (
	"errors"
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Manifest lists the receipts of one batch, in order. It is returned by [Seal] or
// [ParseManifest], is immutable, and is safe for concurrent use.
type Manifest struct {
	root    canon.Digest
	entries []Entry
	index   map[string]int // by receipt_id
}

// newManifest computes the root of entries, and retains entries. The IDs must differ.
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

// Root returns the root, which is the chain.merkle_root of every receipt in the batch.
func (m *Manifest) Root() canon.Digest { return m.root }

// Entries returns a copy of the list.
func (m *Manifest) Entries() []Entry { return slices.Clone(m.entries) }

// Find returns the leaf hash and the receipt_hash that are listed for a receipt. To show that a
// receipt is in the batch, compare this leaf hash with that of the receipt (receipt.BatchLeaf), as
// [Manifest.Check] does.
func (m *Manifest) Find(receiptID []byte) (leaf merkle.Hash, hash canon.Digest, ok bool) {
	i, ok := m.index[string(receiptID)]
	if !ok {
		return merkle.Hash{}, canon.Digest{}, false
	}
	return m.entries[i].Leaf, m.entries[i].ReceiptHash, true
}

// Marshal returns the manifest in canonical form (RFC 8785), with a final newline.
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

// Check checks that a receipt is the receipt that the manifest lists under its ID: the leaf and the
// hash, both computed from the receipt, match the listed values, and the receipt states the
// manifest's root. Check does not check whether the receipt is authentic; [receipt.Verifier] checks
// this. The error contains the location in the manifest and both digests.
func (m *Manifest) Check(d *canon.Document) error {
	hash, err := chain.Hash(d)
	if err != nil {
		return err
	}

	id := d.Root().Member("receipt_id").String()
	i, ok := m.index[id]
	if !ok {
		return fmt.Errorf("batch: the manifest lists no receipt %+.60q", id)
	}
	mismatch := func(at string, listed, found canon.Digest) error {
		return fmt.Errorf("batch: receipt %+.60q: the manifest lists %v at %s, the receipt has %v", id, listed, at, found)
	}

	// Check the leaf first, because a receipt with different content also has a different hash.
	e, place := m.entries[i], fmt.Sprintf("/receipts/%d/", i)
	if leaf := receipt.BatchLeaf(d); leaf != e.Leaf {
		return mismatch(place+"leaf_hash", canon.Digest(e.Leaf), canon.Digest(leaf))
	}
	root := statedRoot(d)
	if root.IsZero() {
		return fmt.Errorf("batch: receipt %+.60q: the manifest lists %v at /merkle_root, the receipt has none", id, m.root)
	}
	if root != m.root {
		return explained(mismatch("/merkle_root", m.root, root), m.Explain(root))
	}
	if hash != e.ReceiptHash {
		return mismatch(place+"receipt_hash", e.ReceiptHash, hash)
	}

	return nil
}

// explained appends an explanation of an incorrect root, if there is one.
func explained(err error, why string) error {
	if why == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, why)
}

// statedRoot returns the root that a receipt states, or zero if it states no valid digest.
func statedRoot(d *canon.Document) canon.Digest {
	root, err := canon.ParseDigest(d.Root().Member("chain").Member("merkle_root").Text())
	if err != nil {
		return canon.Digest{}
	}
	return root
}

// Explain describes a root that is not the root of the batch, if it results from a known mistake:
//
//   - the hash of the only receipt, which covers the root itself;
//   - the root that upstream's older tree construction has for the receipt hashes or the leaf
//     hashes;
//   - the RFC 9162 root of the receipt hashes, which is the root of a checkpoint.
//
// It returns "" for the batch's own root, and for any other digest.
func (m *Manifest) Explain(stated canon.Digest) string {
	if stated == m.root {
		return ""
	}

	hashes, leaves := make([]canon.Digest, len(m.entries)), make([]canon.Digest, len(m.entries))
	var checkpoint merkle.Tree
	for i, e := range m.entries {
		hashes[i], leaves[i] = e.ReceiptHash, canon.Digest(e.Leaf)
		checkpoint.Append(receipt.CheckpointLeaf(e.ReceiptHash))
	}

	// Every value that is computed from receipt hashes is circular, because they cover the root.
	circular := canon.Digest(checkpoint.Root())
	switch stated {
	case upstreamRoot(hashes):
		if len(hashes) == 1 { // the older construction does not change a single leaf
			return "the stated root is the hash of the batch's only receipt, which covers the root: it would be circular" + rule
		}
		return "the stated root is that of Harn's older tree over the receipt hashes" + ambiguous + rule
	case upstreamRoot(leaves):
		return "the stated root is that of Harn's older tree over the leaf hashes" + ambiguous + rule
	case circular:
		return "the stated root is that of a checkpoint, over the receipt hashes, which cover the root: it would be circular" + rule
	}

	return ""
}

// An Entry describes one receipt in a batch.
type Entry struct {
	ReceiptID   string
	Leaf        merkle.Hash  // receipt.BatchLeaf of the receipt
	ReceiptHash canon.Digest // chain.receipt_hash
}

// append appends the entry in canonical form.
func (e Entry) append(b []byte) []byte {
	b = canon.AppendString(append(b, `{"leaf_hash":`...), canon.Digest(e.Leaf).String())
	b = canon.AppendString(append(b, `,"receipt_hash":`...), e.ReceiptHash.String())
	b = canon.AppendString(append(b, `,"receipt_id":`...), e.ReceiptID)
	return append(b, '}')
}

// Limits of a manifest, and therefore of a batch.
const (
	MaxEntries = 1 << 16  // receipts
	MaxBytes   = 32 << 20 // bytes of the manifest
	maxDepth   = 32       // nested arrays and objects; a manifest needs 3
)

// checkCount returns an error if a manifest cannot list that many receipts.
func checkCount(n int) error {
	switch {
	case n == 0:
		return errors.New("batch: no receipts; a batch has at least one")
	case n > MaxEntries:
		return fmt.Errorf("batch: %d receipts, a batch has at most %d", n, MaxEntries)
	}
	return nil
}

// The rule for roots, and the defect in upstream's older rule.
const (
	rule = "; a root is made by RFC 9162 section 2.1.1 over the leaf hashes SHA-256(0x00 ‖ the canonical form of a receipt without chain and signatures)"

	ambiguous = ": it hashes their texts and pairs an odd node with itself, so different lists have one root (CVE-2012-2459)"
)

// upstreamRoot returns the root of digests in the construction that harn-provenance-receipt-v1
// receipts use for their events: the leaves are the texts "sha256:…", a parent is the text of the
// SHA-256 of two concatenated texts, and an odd node is paired with itself. The result is used only
// to recognize an upstream root, never to accept it.
func upstreamRoot(level []canon.Digest) canon.Digest {
	for len(level) > 1 {
		var parents []canon.Digest
		for i := 0; i < len(level); i += 2 {
			left, right := level[i], level[min(i+1, len(level)-1)]
			parents = append(parents, canon.Sum([]byte(left.String()+right.String())))
		}
		level = parents
	}
	return level[0]
}
