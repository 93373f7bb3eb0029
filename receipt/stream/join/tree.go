package join

import (
	"cmp"
	"errors"
	"slices"

	"github.com/receiptkit/receiptkit/merkle"
)

// A Leaf is what a document is in the tree that a checkpoint is over.
type Leaf struct {
	Hash    merkle.Hash // as receipt.CheckpointLeaf makes it; zero unless Placed
	Placed  bool        // the document states its place in a stream: it has a leaf
	Skipped bool        // it was found beside receipts, and is something else
	Single  bool        // its source holds no other
}

// A Tree is what a checkpoint is compared with: the tree over all receipts in the order of
// reading. Every receipt is a leaf, copies too.
type Tree struct {
	Size      uint64      `json:"size"`      // how many leaves there are
	Root      merkle.Hash `json:"root"`      // at the size that the checkpoint claims; anything when there are fewer leaves
	Holes     bool        `json:"holes"`     // something before that size is not a receipt, so it has no leaf
	Documents int         `json:"documents"` // how many were read
	Single    bool        `json:"single"`    // the input is one document

	// The leaves up to that size end in this source, after so many of its documents.
	Source int `json:"source"`
	Until  int `json:"until"`
}

// An Extent is what the leaves of one source add to a tree. The zero Extent begins.
type Extent struct {
	Leaves    uint64 `json:"leaves"`
	Documents int    `json:"documents"`
	Single    bool   `json:"single"` // the source is one document
	Holed     bool   `json:"holed"`  // a document that counts has no leaf
	Hole      uint64 `json:"hole"`   // how many leaves stand before the first such document
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

// Starts returns how many leaves stand before each of the sources, which are in the order
// of reading.
func Starts(sources []Extent) []uint64 {
	list, n := make([]uint64, len(sources)), uint64(0)
	for i := range sources {
		list[i] = n
		n += sources[i].Leaves
	}
	return list
}

// A Branch is a perfect subtree of 1<<Height leaves, which starts at a multiple of that.
type Branch struct {
	Start  uint64      `json:"start"`
	Height int         `json:"height"`
	Root   merkle.Hash `json:"root"`
}

// Branches returns the branches that consecutive leaves make up, as large as they can be:
// at most two of each height. Start is how many leaves of the tree stand before them.
func Branches(start uint64, leaves []merkle.Hash) (list []Branch) {
	for len(leaves) > 0 {
		height := 0
		for start>>height&1 == 0 && 2<<height <= len(leaves) {
			height++
		}
		list = append(list, Branch{start, height, merkle.Root(leaves[:1<<height])})
		leaves, start = leaves[1<<height:], start+1<<height
	}
	return list
}

// errBranches is returned when leaves are missing, or there twice.
var errBranches = errors.New("join: the branches of a tree do not follow each other")

// rootOf is the root of branches in any order, which hold each of the first size leaves once
// (RFC 9162 section 2.1.1).
func rootOf(branches []Branch, size uint64) (merkle.Hash, error) {
	branches = slices.SortedFunc(slices.Values(branches), func(a, b Branch) int { return cmp.Compare(a.Start, b.Start) })
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

	root := edge[len(edge)-1].Root
	for i := len(edge) - 2; i >= 0; i-- {
		root = merkle.NodeHash(edge[i].Root, root)
	}
	return root, nil
}

// TreeOf returns the tree over sources in the order of reading, for a checkpoint that
// claims a size. Branches, in any order, are those of the leaves below that size; source and
// until are where the last of these leaves stands, zero when there is none.
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

	var err error
	t.Root, err = rootOf(branches, min(claimed, t.Size))
	return t, err
}
