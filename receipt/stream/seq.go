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

// An Item is a document that a program already has, such as a row of a database.
type Item struct {
	Source string // name of the source in reports
	Index  int    // line or row in the source, from 1; 0 if the source contains no other document
	JSON   []byte // a single document, which is copied before the next item is requested
	Tag    any    // key of the caller, which [Run.Tag] returns
}

// VerifySeq verifies the documents in items, with the same rules as [Verify]: every receipt must
// follow its predecessor in the sequence. Unless [Options.Several] is set, all items must have the
// same Source. If [Options.Several] is set, consecutive items with the same Source form one source,
// and the sources are joined as in [VerifyFiles].
//
// The sequence is iterated once, or twice with Options.Several, Options.Unordered, or
// Options.Checkpoint. The second iteration must yield the same items. If it does not, the run ends
// with [ErrChanged].
//
// If items yields an error, the run ends. [Run.Summary] then returns an error that wraps that
// error. The remaining documents are not checked, so the verdict is undecided or refuted. The
// sequence is iterated in a separate goroutine, which ends before Reports or Summary returns. A
// sequence that can block should therefore stop when ctx is done. If the sequence panics, Reports or
// Summary panics with the same value.
func VerifySeq(ctx context.Context, v *receipt.Verifier, items iter.Seq2[Item, error], o Options) *Run {
	r := newRun(ctx, v, nil, o)
	r.items, r.several = items, o.Several || o.Unordered
	return r
}

// unnamed is the name of the source if a sequence ends before its first item.
const unnamed = "items"

// readItems adds the items in the sequence of p to batches.
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

		// The sequence may wait for the report on this item before it yields the next item.
		if err := p.flush(); err != nil {
			return err
		}
	}

	end := group.end()
	end.last = true
	return p.add(end, nil)
}

// items groups the items in a sequence by source.
type items struct {
	source  *Source
	number  int // index of the source, from 0
	docs    int // number of documents in the source so far
	single  bool
	several bool
}

// begins reports whether an item is the first item of a new source.
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

// end returns an item that represents the end of the current source.
func (g *items) end() item {
	return item{Item: survey.Item{Source: g.number}, source: g.source, end: true, docs: g.docs, listed: !g.single}
}
