package stream

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
)

// errOnce is returned for a checkpoint over an input that cannot be read twice.
var errOnce = errors.New("stream: a checkpoint is compared with an input by reading it twice, which this one does not allow")

// A forest is the tree over the receipts of an input, in the order of reading,
// and what a checkpoint says of it. Every receipt is a leaf, copies too.
type forest struct {
	given  *receipt.Checkpoint
	claims tlog.Checkpoint
	tree   merkle.Tree
	root   merkle.Hash // at the size that the checkpoint claims
	holes  bool        // something before that size is not a receipt, so it has no leaf
	docs   int
	bound  int  // documents up to that size
	single bool // the input is one document
}

// behind is how many receipts follow those of the checkpoint.
func (f *forest) behind() uint64 {
	return f.tree.Size() - min(f.claims.Size, f.tree.Size())
}

func newForest(c *receipt.Checkpoint) *forest {
	f := &forest{given: c}
	f.claims = c.Claims
	f.root = merkle.EmptyRoot()
	return f
}

// add takes an item of the first reading.
func (f *forest) add(it *item) {
	if it.end {
		return
	}
	f.docs++
	f.single = f.docs == 1 && it.single
	if !it.facts.placed {
		f.holes = f.holes || it.other == "" && f.tree.Size() < f.claims.Size
		return
	}
	f.tree.Append(receipt.CheckpointLeaf(it.facts.computed))
	if f.tree.Size() == f.claims.Size {
		f.root, f.bound = f.tree.Root(), f.docs
	}
}

// judge returns what the checkpoint shows of the documents below a bound and beyond
// it, and what it refutes of the whole.
func (f *forest) judge(partial bool) (inside, outside receipt.Evidence, bound int, found *Finding) {
	size, n := f.claims.Size, f.tree.Size()
	switch {
	case f.given.Fault != "" || !f.given.Readable:
		found = &Finding{Code: receipt.CodeCheckpointInvalid, Detail: cmp.Or(f.given.Fault, "the checkpoint cannot be read")}
		return inside, outside, 0, found
	case n >= size && f.root == f.claims.Root && !f.holes:
		why := "the checkpoint is over no receipt"
		if size > 0 {
			why = fmt.Sprintf("the checkpoint is over the first %d receipts, and this one comes after them", size)
		}
		return receipt.Evidence{Checkpoint: f.given}, receipt.Evidence{Uncompared: why}, f.bound, nil
	case partial || f.single && size != 1:
		// Leaves are missing, so that their root shows nothing.
		why := fmt.Sprintf("the checkpoint is over %d receipts, of which the input is a part; an inclusion proof would show that it includes them", size)
		return receipt.Evidence{Uncompared: why}, outside, f.docs, nil
	case n < size:
		return inside, outside, 0, &Finding{Code: receipt.CodeTruncated, Stated: fmt.Sprint(size), Computed: fmt.Sprint(n),
			Detail: fmt.Sprintf("the checkpoint is over %d receipts, the input has %d", size, n)}
	}

	// RFC 9162 section 2.1.1: a root is over all leaves in their order.
	return inside, outside, 0, &Finding{Code: receipt.CodeMerkleRootMismatch, Stated: f.claims.Root.String(), Computed: f.root.String(),
		Detail: fmt.Sprintf("the root over the first %d receipts is %v, the checkpoint states %v", size, f.root, f.claims.Root)}
}

// beside returns v with the outcome of a comparison; without one, v itself.
func beside(v *receipt.Verifier, e receipt.Evidence) (*receipt.Verifier, error) {
	if e.Checkpoint == nil && e.Uncompared == "" {
		return v, nil
	}
	return v.With(e)
}
