package stream

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/input"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// An Item is a document that a program already has, such as a row of its database.
type Item struct {
	Source string // the source's name in reports
	Index  int    // line or row in the source, counting from 1; 0 if the source contains no other document
	JSON   []byte // one document; it is copied before the next item is requested
	Tag    any    // a caller's key, which [Run.Tag] returns
}

// VerifySeq verifies the documents of items, with the rules of [Verify]: every receipt must follow
// its predecessor in the sequence. The items then have one Source. With [Options.Several],
// consecutive items with the same Source belong to one of several sources, which are joined as in
// [VerifyFiles].
//
// The sequence is read once, or twice with Options.Several, Options.Unordered, or
// Options.Checkpoint. It must then yield the same items again. Otherwise, the run ends
// with [ErrChanged].
//
// An error from items ends the run. The error that [Run.Summary] returns wraps it, documents that
// were not read are not checked, and the summary is not verified. The sequence runs in its own
// goroutine, which ends before Reports or Summary returns. A sequence that may block should
// therefore stop when ctx is done.
func VerifySeq(ctx context.Context, v *receipt.Verifier, items iter.Seq2[Item, error], o Options) *Run {
	r := newRun(ctx, v, nil, o)
	r.items, r.several = items, o.Several || o.Unordered
	return r
}

// unnamed is the source name if a sequence ends before its first item.
const unnamed = "items"

// readItems adds the items from p's sequence to batches.
func readItems(p *pipeline) error {
	group := items{source: &Source{Name: unnamed}, several: p.options.Several}
	for in, err := range p.items {
		if err == nil && group.begins(&in) {
			if err := p.add(group.end(), nil); err != nil {
				return err
			}
			group.next()
		}
		if err == nil {
			err = group.enter(&in)
		}
		if err != nil {
			end := group.end()
			end.err, end.cut = err, true
			return p.add(end, nil)
		}

		p.meter(len(in.JSON))
		piece := input.Text(in.JSON, max(in.Index, 1), in.Index == 0)
		it := item{Item: survey.Item{Source: group.number, Number: group.docs, Piece: piece}, source: group.source, tag: in.Tag}
		if err := p.add(it, piece.Data); err != nil {
			return err
		}

		// The next item may be waiting for the report of this item.
		if err := p.flush(); err != nil {
			return err
		}
	}

	end := group.end()
	end.last = true
	return p.add(end, nil)
}

// items groups a sequence's items by source.
type items struct {
	source  *Source
	number  int // index of the source, from 0
	docs    int // number of the source's documents so far
	single  bool
	several bool
}

// begins reports whether an item is the first item of another source.
func (g *items) begins(in *Item) bool {
	return g.several && g.docs > 0 && in.Source != g.source.Name
}

func (g *items) next() {
	g.source, g.number, g.docs = nil, g.number+1, 0
}

// enter adds an item to the current source.
func (g *items) enter(in *Item) error {
	switch {
	case in.Index < 0:
		return fmt.Errorf("an item has the index %d, expected 0 or a line or row from 1", in.Index)
	case g.docs == 0:
		g.source, g.single = &Source{Name: in.Source}, in.Index == 0
	case in.Source != g.source.Name:
		return fmt.Errorf("an item has the source %.80q after items of %.80q; set Options.Several for several sources", in.Source, g.source.Name)
	case g.single || in.Index == 0:
		return errors.New("an item has the index 0, but its source has several items; number them from 1")
	}

	g.docs++
	return nil
}

// end returns the item that ends the current source.
func (g *items) end() item {
	return item{Item: survey.Item{Source: g.number}, source: g.source, end: true, docs: g.docs, listed: !g.single}
}
