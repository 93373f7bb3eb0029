package receipt

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle"
)

// BatchLeaf returns the leaf hash of a receipt, or of a draft, in a batch of the
// content profile: SHA-256(0x00 ‖ the RFC 8785 form of the receipt without its
// members chain and signatures). It leaves the whole chain out, because
// chain.merkle_root is made of the leaves, and through previous_receipt_hash so
// is the chain of every later receipt of the batch.
func BatchLeaf(d *canon.Document) merkle.Hash {
	root := d.Root()
	return merkle.LeafHash(d.AppendCanonical(nil, root.Member("chain"), root.Member("signatures")))
}

// CheckpointLeaf returns the leaf hash of a receipt in the tree of a checkpoint:
// SHA-256(0x00 ‖ the 32 bytes of its receipt hash). The hash has to be the one
// computed from the receipt, never one that was brought along.
func CheckpointLeaf(hash canon.Digest) merkle.Hash { return merkle.LeafHash(hash[:]) }
