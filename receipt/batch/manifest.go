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

// A Manifest lists the receipts of a batch, in order. It is returned by [Seal] and [ParseManifest].
// It is immutable and safe for concurrent use.
type Manifest struct {
	root    canon.Digest
	entries []Entry
	index   map[string]int // by receipt_id
}

// newManifest returns a manifest that uses entries, and computes its root. The receipt IDs of the
// entries must be distinct.
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

// Root returns the root. It is the chain.merkle_root of every receipt in the batch.
func (m *Manifest) Root() canon.Digest { return m.root }

// Entries returns a copy of the entries.
func (m *Manifest) Entries() []Entry { return slices.Clone(m.entries) }

// Find returns the leaf hash and the receipt_hash of a receipt in the manifest. A receipt is in the
// batch only if this leaf hash is equal to the leaf hash of the receipt (receipt.BatchLeaf), which
// [Manifest.Check] checks.
func (m *Manifest) Find(receiptID []byte) (leaf merkle.Hash, hash canon.Digest, ok bool) {
	i, ok := m.index[string(receiptID)]
	if !ok {
		return merkle.Hash{}, canon.Digest{}, false
	}
	return m.entries[i].Leaf, m.entries[i].ReceiptHash, true
}

// Marshal returns the manifest in canonical form (RFC 8785), followed by a line feed.
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

// Check compares a receipt with the entry for its ID in the manifest. The leaf hash and the receipt
// hash are computed from the receipt and must match the manifest, and the receipt must contain the
// root of the manifest. Check does not check whether the receipt is authentic; use
// [receipt.Verifier] for this. The error contains the location in the manifest, and both digests.
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

	// Check the leaf hash first, because different content also results in a different receipt
	// hash.
	e, place := m.entries[i], fmt.Sprintf("/receipts/%d/", i)
	if leaf := receipt.BatchLeaf(d); leaf != e.Leaf {
		return mismatch(place+"leaf_hash", canon.Digest(e.Leaf), canon.Digest(leaf))
	}
	root := statedRoot(d)
	if root.IsZero() {
		return fmt.Errorf("batch: receipt %+.60q: the manifest lists %v at /merkle_root, the receipt has none", id, m.root)
	}
	if root != m.root {
		return fmt.Errorf("%w%s", mismatch("/merkle_root", m.root, root), explained(m.Explain(root)))
	}
	if hash != e.ReceiptHash {
		return mismatch(place+"receipt_hash", e.ReceiptHash, hash)
	}

	return nil
}

// explained returns the end of a message about an incorrect root, or "" if there is no explanation.
func explained(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

// statedRoot returns the root in a receipt, or zero if the receipt contains no valid root.
func statedRoot(d *canon.Document) canon.Digest {
	root, err := canon.ParseDigest(d.Root().Member("chain").Member("merkle_root").Text())
	if err != nil {
		return canon.Digest{}
	}
	return root
}

// Explain describes how an incorrect root was computed, if it is the result of one of these
// mistakes:
//
//   - the root is the hash of the only receipt, which itself covers the root;
//   - the root was computed from the receipt hashes or the leaf hashes with upstream's older
//     construction;
//   - the root was computed from the receipt hashes according to RFC 9162, as for a checkpoint.
//
// It returns "" for the root of the batch and for any other digest.
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

	// A root that is computed from receipt hashes is circular, because they cover the root.
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

// An Entry describes a receipt in a batch.
type Entry struct {
	ReceiptID   string
	Leaf        merkle.Hash  // receipt.BatchLeaf of the receipt
	ReceiptHash canon.Digest // chain.receipt_hash
}

// append appends the entry to b in canonical form.
func (e Entry) append(b []byte) []byte {
	b = canon.AppendString(append(b, `{"leaf_hash":`...), canon.Digest(e.Leaf).String())
	b = canon.AppendString(append(b, `,"receipt_hash":`...), e.ReceiptHash.String())
	b = canon.AppendString(append(b, `,"receipt_id":`...), e.ReceiptID)
	return append(b, '}')
}

// These are the limits on manifests, and therefore on batches.
const (
	MaxEntries = 1 << 16  // receipts
	MaxBytes   = 32 << 20 // length of a manifest, in bytes
	maxDepth   = 32       // nesting of arrays and objects; a manifest needs only 3
)

// checkCount returns an error if a manifest cannot list n receipts.
func checkCount(n int) error {
	switch {
	case n == 0:
		return errors.New("batch: no receipts; a batch has at least one")
	case n > MaxEntries:
		return fmt.Errorf("batch: %d receipts, a batch has at most %d", n, MaxEntries)
	}
	return nil
}

// These parts of messages describe how to compute a root correctly, and what is wrong with the
// older construction.
const (
	rule = "; a root is made by RFC 9162 section 2.1.1 over the leaf hashes SHA-256(0x00 ‖ the canonical form of a receipt without chain and signatures)"

	ambiguous = ": it hashes their texts and pairs an odd node with itself, so different lists have one root (CVE-2012-2459)"
)

// upstreamRoot computes a root in the same way as harn-provenance-receipt-v1 receipts do for their
// events. The leaves are the strings "sha256:…". A parent is the SHA-256, in the same form, of its
// two concatenated children. An odd node is paired with itself. The root is used only to recognize
// an incorrect root, and is never accepted.
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
