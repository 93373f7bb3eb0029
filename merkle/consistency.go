package merkle

import "math/bits"

// ProveConsistency returns the proof that the tree with the given leaf hashes extends the tree with
// the first size leaf hashes (RFC 9162 section 2.1.4.1). The error is [ErrSizes].
func ProveConsistency(leaves []Hash, size uint64) ([]Hash, error) {
	if size == 0 || size > uint64(len(leaves)) {
		return nil, ErrSizes
	}

	// This is SUBPROOF(m, D_n, b) of RFC 9162 section 2.1.4.1, where m is size and b is whole.
	var down []Hash
	whole := true // the earlier tree is a complete subtree, whose root the verifier knows
	for size < uint64(len(leaves)) {
		k := split(uint64(len(leaves)))
		if size <= k {
			down = append(down, Root(leaves[k:]))
			leaves = leaves[:k]
		} else {
			down = append(down, Root(leaves[:k]))
			leaves, size = leaves[k:], size-k
			whole = false
		}
	}

	// SUBPROOF(m, D_m, b) is MTH(D_m) if b is false, and empty if b is true.
	if !whole {
		down = append(down, Root(leaves))
	}
	return reversed(down), nil
}

// CheckConsistency checks that the tree with size2 and root2 extends the tree with size1 and root1
// (RFC 9162 section 2.1.4.2). The error is [ErrSizes], a *[LengthError], or a *[RootError] with the
// size of the tree whose root does not match.
func CheckConsistency(size1, size2 uint64, root1, root2 Hash, proof []Hash) error {
	if size1 == 0 || size1 > size2 {
		return ErrSizes
	}
	if size1 == size2 {
		if len(proof) > 0 {
			return &LengthError{len(proof), 0}
		}
		if root1 != root2 {
			return &RootError{size2, root1, root2}
		}
		return nil
	}

	// The path begins at the last leaf of the earlier tree or, more precisely, at the root of the
	// largest perfect subtree that ends with that leaf. If that subtree is the entire earlier tree,
	// its root is root1 and is not part of the proof.
	inner, border := pathLength(size1-1, size2)
	shift := bits.TrailingZeros64(size1)
	inner -= shift
	start, rest := root1, proof
	if size1 != 1<<shift {
		if len(proof) != 1+inner+border {
			return &LengthError{len(proof), 1 + inner + border}
		}
		start, rest = proof[0], proof[1:]
	} else if len(proof) != inner+border {
		return &LengthError{len(proof), inner + border}
	}

	// Only hashes on the left contribute to fr (RFC 9162 section 2.1.4.2, step 6).
	index := (size1 - 1) >> shift
	if earlier := climbLeft(start, index, rest[:inner], rest[inner:]); earlier != root1 {
		return &RootError{size1, earlier, root1}
	}

	// All hashes contribute to sr, the root of the later tree.
	later := climb(start, index, rest[:inner])
	for _, sibling := range rest[inner:] {
		later = NodeHash(sibling, later)
	}

	if later != root2 {
		return &RootError{size2, later, root2}
	}
	return nil
}

// climbLeft is like climb, but for the earlier tree, in which the siblings on the right did not
// exist yet.
func climbLeft(node Hash, index uint64, inner, border []Hash) Hash {
	for level, sibling := range inner {
		if index>>level&1 == 1 {
			node = NodeHash(sibling, node)
		}
	}
	for _, sibling := range border {
		node = NodeHash(sibling, node)
	}
	return node
}
