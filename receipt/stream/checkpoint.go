package stream

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// errOnce indicates that there is a checkpoint for an input that cannot be read twice.
var errOnce = errors.New("stream: a checkpoint requires reading the input twice, but this input can be read only once")

// errTree indicates that Conclude was called with a checkpoint but without the tree of all
// receipts.
var errTree = errors.New("stream: a checkpoint requires the tree of all receipts; set the tree")

// A forest contains the tree of an input's receipts, in reading order, and the checkpoint with
// which the tree is compared. Every receipt is a leaf, and so is every copy.
type forest struct {
	given  *receipt.Checkpoint
	claims tlog.Checkpoint
	join.Tree
	edge merkle.Tree // tree of the leaves that have been added
}

// behind returns the number of receipts that follow the receipts covered by the checkpoint.
func (f *forest) behind() uint64 {
	return f.Size - min(f.claims.Size, f.Size)
}

func newForest(c *receipt.Checkpoint) *forest {
	f := &forest{given: c}
	f.claims = c.Claims
	f.Root = merkle.EmptyRoot()
	return f
}

// add adds an item from the first pass.
func (f *forest) add(it *survey.Item) {
	l := leafOf(it)
	f.Documents++
	f.Single = f.Documents == 1 && l.Single
	if !l.Placed {
		f.Holes = f.Holes || !l.Skipped && f.Size < f.claims.Size
		return
	}
	f.edge.Append(l.Hash)
	if f.Size = f.edge.Size(); f.Size == f.claims.Size {
		f.Root, f.Source, f.Until = f.edge.Root(), it.Source, it.Number
	}
}

// take replaces the tree with the tree that an engine has computed, if any. It reports whether an
// engine has computed a tree.
func (f *forest) take(t *join.Tree) bool {
	if f == nil || t == nil {
		return false
	}
	f.Tree = *t
	return true
}

// leafOf returns the leaf for a document.
func leafOf(it *survey.Item) join.Leaf {
	l := join.Leaf{Placed: it.Facts.Placed, Skipped: it.Other != "" || it.Foreign != nil, Single: it.Single}
	if l.Placed {
		l.Hash = receipt.CheckpointLeaf(it.Facts.Computed)
	}
	return l
}

// A bound is a position between documents: it comes after all earlier sources and after the first
// docs documents of a source.
type bound struct{ source, docs int }

// everything is a bound that comes after all documents.
var everything = bound{source: math.MaxInt}

// holds reports whether an item comes before the bound.
func (b bound) holds(it *survey.Item) bool {
	return it.Source < b.source || it.Source == b.source && it.Number <= b.docs
}

// judge compares the tree with the checkpoint. It returns the evidence for the documents before
// until, the evidence for the documents after it, and a finding if the checkpoint refutes the
// entire input.
func (f *forest) judge(partial bool) (inside, outside receipt.Evidence, until bound, found *Finding) {
	size, n := f.claims.Size, f.Size
	switch {
	case f.given.Fault != "" || !f.given.Readable:
		found = &Finding{Code: receipt.CodeCheckpointInvalid, Detail: cmp.Or(f.given.Fault, "the checkpoint cannot be read")}
		return inside, outside, bound{}, found
	case !f.given.Signed: // this is checked before the tree, because anyone can write an unsigned checkpoint
		why := fmt.Sprintf("no trusted key of the log %q signed the checkpoint, which therefore shows nothing", untrusted.Cut([]byte(f.claims.Origin), 256))
		return receipt.Evidence{Checkpoint: f.given, Uncompared: why}, outside, everything, nil
	case n >= size && f.Root == f.claims.Root && !f.Holes:
		why := "the checkpoint covers no receipts"
		if size > 0 {
			why = fmt.Sprintf("the checkpoint covers the first %d receipts, and this one comes after them", size)
		}
		return receipt.Evidence{Checkpoint: f.given}, receipt.Evidence{Uncompared: why}, bound{f.Source, f.Until}, nil
	case partial || f.Single && size != 1 || f.Holes:
		// Leaves are missing, or may be in unreadable documents, so the root proves nothing.
		why := fmt.Sprintf("the checkpoint covers %d receipts, of which the input shows only a part; an inclusion proof would show that it includes them", size)
		return receipt.Evidence{Checkpoint: f.given, Uncompared: why}, outside, everything, nil
	case n < size:
		return inside, outside, bound{}, &Finding{Code: receipt.CodeTruncated, Stated: fmt.Sprint(size), Computed: fmt.Sprint(n),
			Detail: fmt.Sprintf("the checkpoint covers %d receipts, but the input has %d", size, n)}
	}

	// A root covers all leaves in order (RFC 9162 section 2.1.1).
	return inside, outside, bound{}, &Finding{Code: receipt.CodeMerkleRootMismatch, Stated: f.claims.Root.String(), Computed: f.Root.String(),
		Detail: fmt.Sprintf("the checkpoint does not cover these receipts in this order: the root of the first %d is %v, the checkpoint states %v", size, f.Root, f.claims.Root)}
}

// beside returns a verifier that uses e as additional evidence. If nothing was compared, it returns
// v itself.
func beside(v *receipt.Verifier, e receipt.Evidence) (*receipt.Verifier, error) {
	if e.Checkpoint == nil && e.Uncompared == "" {
		return v, nil
	}
	return v.With(e)
}
