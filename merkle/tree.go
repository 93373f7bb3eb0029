package merkle

import "math/bits"

// A Tree contains the right edge of a growing tree: the roots of at most 64 perfect subtrees.
// Leaves are added one by one, and earlier leaves are not needed again. The zero Tree is empty. A
// copy of a Tree is independent of the original.
type Tree struct {
	size  uint64
	roots [64]Hash // roots of the perfect subtrees, largest first
}

// Append adds a leaf, given by its hash.
func (t *Tree) Append(leaf Hash) {
	// Each trailing one bit in the size represents a perfect subtree that the new leaf combines
	// with others into a larger perfect subtree.
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

// Root returns the root of the tree that contains all leaves added so far.
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
