package join

import (
	"cmp"
	"errors"
	"slices"

	"github.com/receiptkit/receiptkit/merkle"
)

// A Leaf describes a document in the tree that a checkpoint covers.
type Leaf struct {
	Hash    merkle.Hash // hash from receipt.CheckpointLeaf; zero unless Placed
	Placed  bool        // the document states its place in a stream, so it has a leaf
	Skipped bool        // the document is not a receipt of this toolkit
	Single  bool        // its source contains no other document
}

// A Tree is the Merkle tree of all receipts in reading order, which is compared with a checkpoint.
// Each receipt and each copy is a leaf.
type Tree struct {
	Size      uint64      `json:"size"`      // number of leaves
	Root      merkle.Hash `json:"root"`      // root at the size that the checkpoint claims; undefined if there are fewer leaves
	Holes     bool        `json:"holes"`     // a document before that size is not a receipt, so it has no leaf
	Documents int         `json:"documents"` // number of documents
	Single    bool        `json:"single"`    // the input is one document

	// Source and Until identify the document whose leaf is the last one within the size that the
	// checkpoint claims: its source, and its number within that source, counted from 1.
	Source int `json:"source"`
	Until  int `json:"until"`
}

// An Extent is the number of leaves and documents that one source contributes to a tree. The zero
// Extent is ready to use.
type Extent struct {
	Leaves    uint64 `json:"leaves"`
	Documents int    `json:"documents"`
	Single    bool   `json:"single"` // the source is one document
	Holed     bool   `json:"holed"`  // a document that counts has no leaf
	Hole      uint64 `json:"hole"`   // number of leaves before the first such document
}

// Add adds the next document of the source.
func (e *Extent) Add(l *Leaf) {
	e.Documents++
	e.Single = e.Documents == 1 && l.Single
	switch {
	case l.Placed:
		e.Leaves++
	case !l.Skipped && !e.Holed:
		e.Holed, e.Hole = true, e.Leaves
	}
}

// Starts returns the number of leaves before each source; the sources must be in reading order.
func Starts(sources []Extent) []uint64 {
	list, n := make([]uint64, len(sources)), uint64(0)
	for i := range sources {
		list[i] = n
		n += sources[i].Leaves
	}
	return list
}

// A Branch is a perfect subtree of 1<<Height leaves that starts at a multiple of that number.
type Branch struct {
	Start  uint64      `json:"start"`
	Height int         `json:"height"`
	Root   merkle.Hash `json:"root"`
}

// Branches returns the largest branches that consecutive leaves form, with at most two branches of
// each height. The argument start is the number of leaves that precede these leaves in the tree.
func Branches(start uint64, leaves []merkle.Hash) (list []Branch) {
	for len(leaves) > 0 {
		// The start of a branch must be a multiple of its size, and there must be enough leaves.
		height := 0
		for start>>height&1 == 0 && 2<<height <= len(leaves) {
			height++
		}
		list = append(list, Branch{start, height, merkle.Root(leaves[:1<<height])})
		leaves, start = leaves[1<<height:], start+1<<height
	}
	return list
}

// errBranches indicates that leaves are missing or duplicated.
var errBranches = errors.New("join: branches of a tree are not consecutive")

// rootOf returns the root of branches, which may be in any order. Together, they must contain each
// of the first leaves, up to the given size, exactly once (RFC 9162 section 2.1.1).
func rootOf(branches []Branch, size uint64) (merkle.Hash, error) {
	branches = slices.SortedFunc(slices.Values(branches), func(a, b Branch) int { return cmp.Compare(a.Start, b.Start) })

	// As in a binary counter, two subtrees of the same height form a subtree of the next height.
	var edge []Branch // perfect subtrees, the largest first
	n := uint64(0)
	for _, b := range branches {
		if b.Height < 0 || b.Height > 63 || b.Start != n || n&(1<<b.Height-1) != 0 {
			return merkle.Hash{}, errBranches
		}
		n += 1 << b.Height
		for len(edge) > 0 && edge[len(edge)-1].Height == b.Height {
			left := edge[len(edge)-1]
			edge, b = edge[:len(edge)-1], Branch{left.Start, left.Height + 1, merkle.NodeHash(left.Root, b.Root)}
		}
		edge = append(edge, b)
	}

	if n != size {
		return merkle.Hash{}, errBranches
	}
	if size == 0 {
		return merkle.EmptyRoot(), nil
	}

	// The remaining subtrees are joined from the right, starting with the smallest.
	root := edge[len(edge)-1].Root
	for i := len(edge) - 2; i >= 0; i-- {
		root = merkle.NodeHash(edge[i].Root, root)
	}
	return root, nil
}

// TreeOf returns the tree of sources, in reading order, for a checkpoint that claims a size. The
// branches, in any order, cover the leaves within this size. The arguments source and until are the
// position of the last of these leaves, or zero if there are no such leaves.
func TreeOf(sources []Extent, claimed uint64, branches []Branch, source, until int) (*Tree, error) {
	t := &Tree{Source: source, Until: until}
	for i, start := range Starts(sources) {
		e := &sources[i]
		t.Size += e.Leaves
		t.Documents += e.Documents
		t.Single = t.Single || e.Single
		t.Holes = t.Holes || e.Holed && start+e.Hole < claimed
	}
	t.Single = t.Single && t.Documents == 1

	// If there are fewer leaves than claimed, the root is not compared.
	var err error
	t.Root, err = rootOf(branches, min(claimed, t.Size))
	return t, err
}
