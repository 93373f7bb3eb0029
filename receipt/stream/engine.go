package stream

import (
	"context"
	"errors"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// Leaves calls leaf for each document in the sources, in reading order. It reads the documents only
// to compute their leaves, and verifies nothing. If leaf returns an error, reading ends and Leaves
// returns that error.
//
// Leaves, [Records], and [Conclude] are intended for an engine with many workers. Each worker reads
// some of the inputs, and the engine joins the receipts with package join. Leaves is needed only
// for a checkpoint that covers all inputs. Package join is internal, so engines outside this
// repository use the command receipt-beam instead.
func Leaves(ctx context.Context, sources []Source, o Options, leaf func(join.Leaf) error) error {
	var failure error
	p := &pipeline{sources: sources, options: &o, meter: func(int) {}}
	err := p.process(ctx, func(it *item) bool {
		if !it.end {
			failure = leaf(leafOf(&it.Item))
		}
		return failure == nil
	})
	return errors.Join(err, failure)
}

// Records verifies the receipts in the sources and calls place for each document that is counted,
// in input order. The record contains the index of the receipt in its source, and the outcome of
// the receipt without its link. Before the call, Mark is join.MarkLinked, which means that the link
// is valid. To report a different result for the link, place sets Mark and Related; join.MarkCopy
// means that the receipt is not counted. The record is valid only until place returns. For a
// document without a position in a stream, the record is nil. If place returns an error, the run
// ends.
//
// If [Options.Checkpoint] is set, tree is the tree of the leaves of all inputs. Its Source is an
// index relative to the first of the sources. If tree is nil, it is computed from these sources
// alone.
//
// The summary contains only counts of documents, and lists no streams.
func Records(ctx context.Context, v *receipt.Verifier, sources []Source, o Options, tree *join.Tree, place func(*join.Record) error) *Run {
	r := newRun(ctx, v, sources, o)
	r.engine, r.tree, r.summary.roster = place, tree, nil
	return r
}

// Conclude returns the summary for the receipts that an engine has joined. It is equal to the
// summary that [VerifyFiles] returns for all inputs. Conclude does not read any input; the caller
// sets Inputs and Skipped. If [Options.Checkpoint] is set, tree is the tree of the leaves of all
// inputs.
func Conclude(v *receipt.Verifier, found *join.Result, o Options, tree *join.Tree) (*Summary, error) {
	r := newRun(context.Background(), v, nil, o)
	r.summary.roster = nil
	if o.Checkpoint != nil {
		f := newForest(v.OpenCheckpoint(o.Checkpoint))
		if !f.take(tree) {
			return &r.summary, errTree
		}
		if err := r.weigh(f, &pipeline{}); err != nil {
			return &r.summary, err
		}
	}

	s, c := &r.summary, &found.Counts
	s.Receipts, s.Verified, s.Refuted, s.Undecided, s.Copies = int(c.Receipts), int(c.Verified), int(c.Refuted), int(c.Undecided), int(c.Copies)
	s.Codes, s.Unchecked, s.Withheld = intCounts(c.Codes), intCounts(c.Unchecked), int(c.Withheld)

	// If all receipts in a stream are damaged, the damage may be in the name of the stream.
	d := o.demands()
	for i := range found.Strands {
		e := &found.Strands[i]
		if !e.Intact {
			continue
		}
		if s.Streams = append(s.Streams, e.Segment()); len(s.Streams) > 1 && d.given.one() {
			return s, ErrStreams
		}
		d.compare(s, survey.End{Segment: e.Segment(), Found: e.Found})
	}
	s.Streams = chain.Join(s.Streams)
	d.conclude(s)

	// If a checkpoint covers all receipts, it shows that no further receipt follows.
	if r.covered {
		s.dropNotes(receipt.CodeTailNotChecked)
	}
	s.Complete = true
	return s, nil
}

func intCounts(counts map[receipt.Code]int64) map[receipt.Code]int {
	list := map[receipt.Code]int{}
	for code, n := range counts {
		list[code] = int(n)
	}
	return list
}

// An outside value passes receipts to an engine, which determines their places.
type outside struct {
	engine  func(*join.Record) error
	partial bool
	demands demands
	record  join.Record
}

// Place passes an item to the engine, and records the result of the engine.
func (o *outside) Place(it *survey.Item) error {
	if !it.Facts.Placed {
		if it.Other != "" {
			return nil
		}
		return o.engine(nil)
	}

	r := &o.record
	*r = recordOf(it)
	if err := o.engine(r); err != nil {
		return err
	}

	related := receipt.Place{Index: r.Related.Index}
	it.Link(survey.CheckOf(r.Mark, it, o.partial, related, o.demands.Previous(r.Stream)))
	if it.Again = r.Mark == join.MarkCopy; it.Again {
		it.Copy = true
		it.Report.Warnings = append(it.Report.Warnings, receipt.Note{Code: receipt.CodeIdenticalCopy, Detail: "another receipt of the input is identical"})
	}
	return nil
}

func (*outside) conclude(*Summary) {}

// recordOf returns the record for an item whose link has not been checked yet.
func recordOf(it *survey.Item) join.Record {
	f := &it.Facts
	r := join.Record{Stream: f.Key.Stream(), ID: join.ID(f.ID), Stated: f.Link.Hash, Computed: f.Computed, First: f.Link.First, Previous: f.Link.Previous,
		Issued: f.Issued.UnixMilli(), Place: join.Place{Index: it.Index}, Verdict: it.Alone.Own, Reason: it.Alone.Reason, Before: it.Before}
	r.Begin()
	return r
}
