package files

import (
	"math/bits"
	"slices"

	"github.com/receiptkit/receiptkit/merkle"
)

// A tree contains the hashes from which proofs are built. These are all leaf hashes (32 bytes each)
// and the roots of perfect subtrees with 256 or more leaves (a quarter of a byte per leaf).
// Creating a proof then requires about 300 hash computations instead of one per leaf.
type tree struct {
	leaves []merkle.Hash
	levels [][]merkle.Hash // roots of the subtrees with 256 leaves, with 512 leaves, and so on
}

// blockBits is the base-2 logarithm of the number of leaves in the smallest subtree whose root is
// stored.
const blockBits = 8

func newTree(leaves []merkle.Hash) *tree {
	t := &tree{leaves: leaves}
	var level []merkle.Hash
	for block := range slices.Chunk(leaves, 1<<blockBits) {
		if len(block) == 1<<blockBits {
			level = append(level, merkle.Root(block))
		}
	}

	// A perfect tree consists of two perfect subtrees of half its size (RFC 9162 section 2.1.1). A
	// last subtree without a sibling is not part of a larger perfect subtree.
	for len(level) > 0 {
		t.levels = append(t.levels, level)
		var above []merkle.Hash
		for i := 1; i < len(level); i += 2 {
			above = append(above, merkle.NodeHash(level[i-1], level[i]))
		}
		level = above
	}

	return t
}

// root returns the root of leaves[from:to], which must be a subtree as defined by RFC 9162: from is
// a multiple of the largest power of two below its size, or of its size if that is a power of two.
func (t *tree) root(from, to int) merkle.Hash {
	n := to - from
	switch {
	case n < 1<<blockBits:
		return merkle.Root(t.leaves[from:to])
	case n&(n-1) == 0:
		return t.levels[bits.Len(uint(n))-1-blockBits][from/n]
	}

	// The left subtree is the largest perfect subtree that is smaller than n (RFC 9162 section
	// 2.1.1).
	middle := from + leftSize(n)
	return merkle.NodeHash(t.root(from, middle), t.root(middle, to))
}

// prove returns the same proof as merkle.ProveInclusion, for a leaf that exists.
func (t *tree) prove(index int) []merkle.Hash {
	proof := []merkle.Hash{}

	// This is the algorithm of RFC 9162 section 2.1.3.1, from the root down to the leaf.
	for from, to := 0, len(t.leaves); to-from > 1; {
		middle := from + leftSize(to-from)
		if index < middle {
			proof = append(proof, t.root(middle, to))
			to = middle
		} else {
			proof = append(proof, t.root(from, middle))
			from = middle
		}
	}
	slices.Reverse(proof) // proofs are ordered from the leaf to the root
	return proof
}

// leftSize returns the size of the left subtree of a tree with n > 1 leaves. It is the largest
// power of two less than n.
func leftSize(n int) int { return 1 << (bits.Len(uint(n-1)) - 1) }
