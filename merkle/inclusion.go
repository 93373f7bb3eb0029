package merkle

import "math/bits"

// ProveInclusion returns the proof that the leaf of an index is in the tree over
// leaf hashes: its siblings, from the leaf's up to the root's child (RFC 9162
// section 2.1.3.1). The error is [ErrIndex].
func ProveInclusion(leaves []Hash, index uint64) ([]Hash, error) {
	if index >= uint64(len(leaves)) {
		return nil, ErrIndex
	}

	// RFC 9162 section 2.1.3.1, PATH(m, D_n): the path in the half with the leaf, then
	// the root of the other half.
	var down []Hash // siblings from the root's child to the leaf's
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

// CheckInclusion checks that the leaf of an index is in the tree of a size and a
// root (RFC 9162 section 2.1.3.2). The leaf hash must come from the thing itself,
// never from whoever brings the proof. The error is [ErrIndex], a *[LengthError]
// or a *[RootError].
func CheckInclusion(leaf Hash, index, size uint64, proof []Hash, root Hash) error {
	if index >= size {
		return ErrIndex
	}

	// RFC 9162 section 2.1.3.2, steps 4 and 5 refuse a path of another length: here
	// that is known before anything is hashed.
	inner, border := pathLength(index, size)
	if len(proof) != inner+border {
		return &LengthError{len(proof), inner + border}
	}

	// Step 4: along the border fn is sn, so each p is to the left.
	computed := climb(leaf, index, proof[:inner])
	for _, sibling := range proof[inner:] {
		computed = NodeHash(sibling, computed)
	}

	if computed != root {
		return &RootError{size, computed, root}
	}
	return nil
}

// pathLength splits the path from a leaf to the root: first inner levels, on
// which the leaf's subtree has a sibling on either side, then, along the right
// border of the tree, one sibling to the left for each further perfect subtree.
func pathLength(index, size uint64) (inner, border int) {
	inner = bits.Len64(index ^ (size - 1))
	return inner, bits.OnesCount64(index >> inner)
}

// climb hashes from a node up, with one sibling for each level; the bits of
// index say on which side each lies.
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

// split returns the size of the left subtree of a tree of n > 1 leaves: the
// largest power of two below n.
func split(n uint64) uint64 { return 1 << (bits.Len64(n-1) - 1) }

func reversed(down []Hash) []Hash {
	up := make([]Hash, len(down))
	for i, h := range down {
		up[len(down)-1-i] = h
	}
	return up
}
