package merkle

import "math/bits"

// ProveInclusion returns the proof that the leaf at index is in the tree with the given leaf
// hashes. The proof contains the siblings on the path from the leaf to the root, starting with the
// sibling of the leaf (RFC 9162 section 2.1.3.1). The error is [ErrIndex].
func ProveInclusion(leaves []Hash, index uint64) ([]Hash, error) {
	if index >= uint64(len(leaves)) {
		return nil, ErrIndex
	}

	// PATH(m, D_n) is the path in the half that contains the leaf, followed by the root of the
	// other half (RFC 9162 section 2.1.3.1).
	var down []Hash // siblings in the order from the root to the leaf
	for len(leaves) > 1 {
		k := split(uint64(len(leaves)))
		if index < k {
			down = append(down, Root(leaves[k:]))
			leaves = leaves[:k]
		} else {
			down = append(down, Root(leaves[:k]))
			leaves, index = leaves[k:], index-k
		}
	}

	return reversed(down), nil
}

// CheckInclusion checks that the leaf at index is in the tree with the given size and root (RFC
// 9162 section 2.1.3.2). The caller must compute the leaf hash from the leaf itself, and never take
// it from the source of the proof. The error is [ErrIndex], a *[LengthError], or a *[RootError].
func CheckInclusion(leaf Hash, index, size uint64, proof []Hash, root Hash) error {
	if index >= size {
		return ErrIndex
	}

	// RFC 9162 section 2.1.3.2 rejects a path of any other length in steps 4 and 5. Because the
	// required length is known in advance, it is checked before anything is hashed.
	inner, border := pathLength(index, size)
	if len(proof) != inner+border {
		return &LengthError{len(proof), inner + border}
	}

	// On the border, fn equals sn, so each p is on the left (step 4).
	computed := climb(leaf, index, proof[:inner])
	for _, sibling := range proof[inner:] {
		computed = NodeHash(sibling, computed)
	}

	if computed != root {
		return &RootError{size, computed, root}
	}
	return nil
}

// pathLength divides the path from a leaf to the root into two parts, and returns the lengths of
// both parts. On the inner levels, which come first, the sibling may be on either side. The border
// levels follow the right edge of the tree, and have one sibling, on the left, for each further
// perfect subtree.
func pathLength(index, size uint64) (inner, border int) {
	inner = bits.Len64(index ^ (size - 1))
	return inner, bits.OnesCount64(index >> inner)
}

// climb computes hashes from a node toward the root, using one sibling per level. The bits of index
// determine on which side each sibling is.
func climb(node Hash, index uint64, siblings []Hash) Hash {
	for level, sibling := range siblings {
		if index>>level&1 == 0 {
			node = NodeHash(node, sibling)
		} else {
			node = NodeHash(sibling, node)
		}
	}
	return node
}

// split returns the size of the left subtree of a tree with n > 1 leaves: the largest power of two
// less than n.
func split(n uint64) uint64 { return 1 << (bits.Len64(n-1) - 1) }

func reversed(down []Hash) []Hash {
	up := make([]Hash, len(down))
	for i, h := range down {
		up[len(down)-1-i] = h
	}
	return up
}
