package stream

import (
	"fmt"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

// A placement determines the relationship of each receipt to the other receipts of the input.
type placement interface {
	Place(*survey.Item) error
	conclude(*Summary)
}

// An inOrder value places the receipts of a single source. Each receipt must follow the previous
// receipt in its stream.
type inOrder struct {
	*survey.Order
	demands demands
}

// conclude adds the streams and the findings about the entire input to the summary.
func (o *inOrder) conclude(s *Summary) {
	o.demands.end(s, o.Ends())
	for _, p := range o.Behind {
		s.addFinding(Finding{Code: receipt.CodeChainBreak, Stream: &p.Stream, Source: fmt.Sprintf("%s:%d", p.Source, p.Line), Drawn: s.roster != nil,
			Stated: p.Hash.String(), Cause: receipt.CausePredecessorElsewhere, Detail: fmt.Sprintf("it names line %d, a receipt of another stream", p.Named)})
	}
	if o.Full() {
		s.addNote(receipt.CodeIDsNotChecked, "whether a receipt_id is used again, and whether a link leads into another stream, after the first %d receipts", o.Indexed)
	}
	o.demands.conclude(s)
}

// A byLinks value places receipts according to a survey. The survey has joined the receipts after
// the first pass.
type byLinks struct {
	*survey.Survey
	demands demands
}

// conclude adds the streams to the summary.
func (l *byLinks) conclude(s *Summary) {
	l.demands.end(s, l.Ends())
	l.demands.conclude(s)
}
