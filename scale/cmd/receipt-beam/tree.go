package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A plot contains the result of the pass over the leaves of one input, except for the leaves
// themselves.
type plot struct {
	Input  input       `json:"input"` // input with the version that was read
	Extent join.Extent `json:"extent"`
}

// mostLeaves is the number of leaves that are sent together (2 MiB).
const mostLeaves = 1 << 16

// A leafReading reads only the leaves of each input. The result of a checkpoint for a receipt is
// known only after all leaves are known.
type leafReading struct {
	worker
}

// ProcessElement reads the leaves of one input.
func (f *leafReading) ProcessElement(ctx context.Context, element []byte, plots, leaves func(int, []byte)) error {
	var out plot
	if err := json.Unmarshal(element, &out.Input); err != nil {
		return err
	}
	source, pinned, err := f.reader.source(ctx, out.Input)
	if err != nil {
		return err
	}

	// The later passes must read the same bytes.
	sum, row := sha256.New(), leafRow{}
	err = stream.Leaves(ctx, []stream.Source{hashed(source, sum)}, stream.Options{Long: f.run.Long}, func(l join.Leaf) error {
		if out.Extent.Add(&l); l.Placed {
			row.add(out.Extent.Documents, l.Hash)
		}
		if len(row.hashes) == mostLeaves {
			leaves(out.Input.Number, row.append(nil))
			row = leafRow{start: out.Extent.Leaves}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(row.hashes) > 0 {
		leaves(out.Input.Number, row.append(nil))
	}

	if out.Input, err = pinned(); err != nil {
		return err
	}
	out.Input.Seen = sum.Sum(nil)
	return emitJSON(plots, ofAll, out)
}

// A leafRow is a sequence of leaves from one input.
type leafRow struct {
	start     uint64 // number of leaves in the input before the row
	documents []int  // document of each leaf, counted from 1
	hashes    []merkle.Hash
}

func (r *leafRow) add(document int, leaf merkle.Hash) {
	r.documents, r.hashes = append(r.documents, document), append(r.hashes, leaf)
}

// append encodes the row. The start of the row is a uvarint. Each leaf is its hash, followed by a
// uvarint with the distance of its document from the document of the previous leaf.
func (r *leafRow) append(b []byte) []byte {
	b = binary.AppendUvarint(slices.Grow(b, len(r.hashes)*(len(merkle.Hash{})+1)+binary.MaxVarintLen64), r.start)
	before := 0
	for i, d := range r.documents {
		b = binary.AppendUvarint(append(b, r.hashes[i][:]...), uint64(d-before))
		before = d
	}
	return b
}

var errLeafRow = errors.New("malformed row of leaves")

func parseLeafRow(b []byte) (r leafRow, err error) {
	number := func() uint64 {
		n, width := binary.Uvarint(b)
		if width <= 0 {
			err = errLeafRow
			return 0
		}
		b = b[width:]
		return n
	}
	r.start = number()
	for document := 0; err == nil && len(b) > 0; {
		var leaf merkle.Hash
		if len(b) < len(leaf) {
			return r, errLeafRow
		}
		b = b[copy(leaf[:], b):]
		document += int(number())
		r.add(document, leaf)
	}
	return r, err
}

// startSources computes the index in the tree at which the leaves of each input start.
type startSources struct{}

// ProcessElement receives all inputs.
func (*startSources) ProcessElement(_ int, plots func(*[]byte) bool, starts func(int, uint64)) error {
	list, extents, err := gatherPlots(plots)
	if err != nil {
		return err
	}
	for i, start := range join.Starts(extents) {
		starts(list[i].Input.Number, start)
	}
	return nil
}

// gatherPlots returns the inputs in order.
func gatherPlots(plots func(*[]byte) bool) (list []plot, extents []join.Extent, err error) {
	if list, err = parsed(plots, fromJSON[plot]); err != nil {
		return nil, nil, err
	}
	slices.SortFunc(list, func(a, b plot) int { return cmp.Compare(a.Input.Number, b.Input.Number) })
	for i := range list {
		extents = append(extents, list[i].Extent)
	}
	return list, extents, nil
}

// A bough is a list of tree branches from one input.
type bough struct {
	Branches []join.Branch `json:"branches"`

	// The last leaf that the checkpoint covers is in the input Source, in the document Until. Both
	// fields are zero if that leaf is not in this bough.
	Source int `json:"source,omitzero"`
	Until  int `json:"until,omitzero"`
}

// growBranches creates branches from the leaves that a checkpoint covers.
type growBranches struct {
	growth
}

// ProcessElement receives the start of one input and its leaves.
func (g *growBranches) ProcessElement(source int, starts func(*uint64) bool, leaves func(*[]byte) bool, boughs func(int, []byte)) error {
	var start uint64
	if !starts(&start) {
		return fmt.Errorf("input %d has leaves and was not read", source)
	}
	for text := []byte(nil); leaves(&text); {
		row, err := parseLeafRow(text)
		if err != nil {
			return err
		}
		from := start + row.start
		if from >= g.claimed {
			continue
		}
		n := int(min(g.claimed-from, uint64(len(row.hashes))))
		b := bough{Branches: join.Branches(from, row.hashes[:n])}
		if from+uint64(n) == g.claimed {
			b.Source, b.Until = source, row.documents[n-1]
		}
		if err := emitJSON(boughs, ofAll, b); err != nil {
			return err
		}
	}
	return nil
}

// plantTree builds the tree from all branches, and adds it to each input.
type plantTree struct {
	growth
}

// ProcessElement receives all inputs and all branches.
func (p *plantTree) ProcessElement(_ int, plots, boughs func(*[]byte) bool, inputs func([]byte)) error {
	list, extents, err := gatherPlots(plots)
	if err != nil {
		return err
	}
	parts, err := parsed(boughs, fromJSON[bough])
	if err != nil {
		return err
	}
	var all bough
	for _, b := range parts {
		all.Branches = append(all.Branches, b.Branches...)
		if b.Until > 0 {
			all.Source, all.Until = b.Source, b.Until
		}
	}
	tree, err := join.TreeOf(extents, p.claimed, all.Branches, all.Source, all.Until)
	if err != nil {
		return err
	}

	for i := range list {
		in, own := list[i].Input, *tree
		own.Source -= in.Number
		in.Tree = &own
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		inputs(text)
	}
	return nil
}
