package files

import (
	"math/bits"
	"slices"

	"github.com/receiptkit/receiptkit/merkle"
)

// A tree contains the hashes that proofs consist of: all leaf hashes, 32 bytes each, and the roots
// of perfect subtrees with 256 leaves or more, a quarter of a byte per leaf. A proof then requires
// about 300 hash computations, instead of as many as there are leaves.
type tree struct {
	leaves []merkle.Hash
	levels [][]merkle.Hash // subtrees with 256 leaves each, with 512, and so on
}

// blockBits is the base-2 logarithm of the number of leaves in the smallest stored subtree.
const blockBits = 8

func newTree(leaves []merkle.Hash) *tree {
	t := &tree{leaves: leaves}
	var level []merkle.Hash
	for block := range slices.Chunk(leaves, 1<<blockBits) {
		if len(block) == 1<<blockBits {
			level = append(level, merkle.Root(block))
		}
	}

	// RFC 9162 section 2.1.1: a perfect tree has two perfect subtrees of half its size. A last
	// subtree without a neighbor is not part of a larger subtree.
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

// root returns the root of leaves[from:to], a subtree by RFC 9162: from is a multiple of the
// largest power of two below its size, and of its size if that is a power of two.
func (t *tree) root(from, to int) merkle.Hash {
	n := to - from
	switch {
	case n < 1<<blockBits:
		return merkle.Root(t.leaves[from:to])
	case n&(n-1) == 0:
		return t.levels[bits.Len(uint(n))-1-blockBits][from/n]
	}

	// RFC 9162 section 2.1.1: the left subtree is the largest perfect subtree smaller than n.
	middle := from + leftSize(n)
	return merkle.NodeHash(t.root(from, middle), t.root(middle, to))
}

// prove returns the same proof as merkle.ProveInclusion for an existing leaf.
func (t *tree) prove(index int) []merkle.Hash {
	proof := []merkle.Hash{}

	// RFC 9162 section 2.1.3.1, from the root down to the leaf.
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
	slices.Reverse(proof) // from the leaf upward
	return proof
}

// leftSize returns the size of the left subtree for n > 1 leaves: the largest power of two below n.
func leftSize(n int) int { return 1 << (bits.Len(uint(n-1)) - 1) }
