package merkle

import "math/bits"

// A Tree is the right edge of a growing tree: the roots of its perfect subtrees, of which there are
// at most 64. Leaves are added one after another, and earlier leaves are not needed again. The zero
// Tree is empty. A copy of a Tree is independent of the original.
type Tree struct {
	size  uint64
	roots [64]Hash // of the perfect subtrees, largest first
}

// Append adds a leaf by its hash.
func (t *Tree) Append(leaf Hash) {
	// Each trailing one bit in the size stands for a perfect subtree that the new leaf completes to
	// the next larger subtree.
	n := bits.OnesCount64(t.size)
	for range bits.TrailingZeros64(^t.size) {
		n--
		leaf = NodeHash(t.roots[n], leaf)
	}
	t.roots[n] = leaf
	t.size++
}

// Size returns the number of leaves.
func (t *Tree) Size() uint64 { return t.size }

// Root returns the root of the leaves added so far.
func (t *Tree) Root() Hash {
	n := bits.OnesCount64(t.size)
	if n == 0 {
		return EmptyRoot()
	}
	root := t.roots[n-1]
	for i := n - 2; i >= 0; i-- {
		root = NodeHash(t.roots[i], root)
	}
	return root
}

// Root returns the root of the tree with the given leaf hashes.
func Root(leaves []Hash) Hash {
	var t Tree
	for _, leaf := range leaves {
		t.Append(leaf)
	}
	return t.Root()
}
