package stream

import (
	"fmt"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/vocab"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
	"github.com/receiptkit/receiptkit/receipt/stream/join"
)

// A placement judges how the receipts of an input stand to each other.
type placement interface {
	Place(*survey.Item) error
	conclude(*Summary)
}

// An inOrder places receipts by an order, in which each follows the one before it.
type inOrder struct {
	*survey.Order
	demands demands
}

// conclude fills in what the order knows of the whole input.
func (o *inOrder) conclude(s *Summary) {
	o.demands.end(s, o.Ends())
	for _, p := range o.Behind {
		s.addFinding(Finding{Code: receipt.CodeChainBreak, Stream: &p.Stream, Source: fmt.Sprintf("%s:%d", p.Source, p.Line), Drawn: s.roster != nil,
			Stated: p.Hash.String(), Cause: vocab.CausePredecessorElsewhere, Detail: fmt.Sprintf("it names line %d, a receipt of another stream", p.Named)})
	}
	if o.Full() {
		s.addNote(vocab.CodeIDsNotChecked, "whether a receipt_id is used again, and whether a link leads into another stream, after the first %d receipts", o.Indexed)
	}
	o.demands.conclude(s)
}

// A byLinks places receipts by a survey, which joined them in a first reading.
type byLinks struct {
	*survey.Survey
	demands demands
}

// conclude adds the streams to the summary.
func (l *byLinks) conclude(s *Summary) {
	l.demands.end(s, l.Ends())
	l.demands.conclude(s)
}

// An outside asks an engine how receipts stand to each other.
type outside struct {
	engine  func(*join.Record) error
	partial bool
	demands demands
	record  join.Record
}

// Place tells the engine of an item, and the report what the engine found.
func (o *outside) Place(it *survey.Item) error {
	if !it.Facts.Placed {
		if it.Other != "" {
			return nil
		}
		return o.engine(nil)
	}

	r := &o.record
	*r = it.Record()
	if err := o.engine(r); err != nil {
		return err
	}

	related := receipt.Place{Index: r.Related.Index}
	it.Verifier.Link(&it.Report, survey.CheckOf(r.Mark, it, o.partial, related, o.demands.Previous(r.Stream)))
	if it.Again = r.Mark == join.MarkCopy; it.Again {
		it.Copy = true
		it.Report.Warnings = append(it.Report.Warnings, receipt.Note{Code: vocab.CodeIdenticalCopy, Detail: "another receipt of the input is the same"})
	}
	return nil
}

func (*outside) conclude(*Summary) {}
