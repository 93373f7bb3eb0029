package merkle

import "math/bits"

// ProveInclusion returns the proof that the leaf at index is in the tree with the given leaf
// hashes: the siblings on the path, from the leaf's sibling up to the child of the root (RFC 9162
// section 2.1.3.1). The error is [ErrIndex].
func ProveInclusion(leaves []Hash, index uint64) ([]Hash, error) {
	if index >= uint64(len(leaves)) {
		return nil, ErrIndex
	}

	// RFC 9162 section 2.1.3.1, PATH(m, D_n): the path in the half that contains the leaf, followed
	// by the root of the other half.
	var down []Hash // siblings from the child of the root down to the leaf's sibling
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
// 9162 section 2.1.3.2). The leaf hash must be computed from the leaf itself, never taken from the
// source of the proof. The error is [ErrIndex], a *[LengthError], or a *[RootError].
func CheckInclusion(leaf Hash, index, size uint64, proof []Hash, root Hash) error {
	if index >= size {
		return ErrIndex
	}

	// RFC 9162 section 2.1.3.2, steps 4 and 5, reject a path of any other length. The length is
	// known in advance, so this check is made before anything is hashed.
	inner, border := pathLength(index, size)
	if len(proof) != inner+border {
		return &LengthError{len(proof), inner + border}
	}

	// Step 4: along the border, fn equals sn, so each p is on the left.
	computed := climb(leaf, index, proof[:inner])
	for _, sibling := range proof[inner:] {
		computed = NodeHash(sibling, computed)
	}

	if computed != root {
		return &RootError{size, computed, root}
	}
	return nil
}

// pathLength divides the path from a leaf to the root into two parts. On the inner levels, which
// come first, the leaf's subtree may have its sibling on either side. The border levels follow the
// right edge of the tree, with one sibling on the left for each additional perfect subtree.
func pathLength(index, size uint64) (inner, border int) {
	inner = bits.Len64(index ^ (size - 1))
	return inner, bits.OnesCount64(index >> inner)
}

// climb hashes from a node upward, using one sibling per level. The bits of index specify on which
// side each sibling lies.
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

// split returns the size of the left subtree of a tree with n > 1 leaves, which is the largest
// power of two below n.
func split(n uint64) uint64 { return 1 << (bits.Len64(n-1) - 1) }

func reversed(down []Hash) []Hash {
	up := make([]Hash, len(down))
	for i, h := range down {
		up[len(down)-1-i] = h
	}
	return up
}
