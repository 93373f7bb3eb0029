package batch

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
)

// The rule that a root is made by, and what is wrong with upstream's older one.
const (
	rule = "; a root is made by RFC 9162 section 2.1.1 over the leaf hashes SHA-256(0x00 ‖ the canonical form of a receipt without chain and signatures)"

	ambiguous = ": it hashes their texts and pairs an odd node with itself, so different lists have one root (CVE-2012-2459)"
)

// Explain says what a root that is not the batch's is instead, when it is one of
// the known mistakes:
//
//   - the receipt hash of the only receipt, which covers the root itself;
//   - the root of upstream's older tree, over the receipt hashes or the leaf
//     hashes;
//   - the RFC 9162 root over the receipt hashes, which is that of a checkpoint.
//
// It returns "" for the root of the batch, and for any other digest.
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

	// Whatever is made of receipt hashes is circular: they cover the root.
	circular := canon.Digest(checkpoint.Root())
	switch stated {
	case upstreamRoot(hashes):
		if len(hashes) == 1 { // the older tree leaves a single leaf as it is
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

// upstreamRoot returns the root that the receipts harn-provenance-receipt-v1
// have over their events: the leaves are the texts "sha256:…", a parent is the
// text of the SHA-256 of two texts joined, and an odd node is paired with
// itself. It serves to tell such a root, never to accept it.
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
