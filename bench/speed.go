package main

import (
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
	"github.com/receiptkit/receiptkit/bench/internal/result"
)

// shortForm measures the fast sections with a smaller sample of the first receipts in the corpus.
func (b *bench) shortForm(messages io.Writer, rounds int) []result.Line {
	count := rounds * shortCount
	s := must(take(b.ctx, corpus.Config{Receipts: chained, Seed: seed}, rounds, count, nil))
	short := *b
	short.rounds, short.sample = rounds, s
	return short.lines(messages, nil, true)
}

// guard compares the short form with its record.
func (b *bench) guard(out, messages io.Writer) error {
	recorded, err := result.Load(recordedFile)
	if err != nil {
		return err
	}
	var list []result.Comparison
	for range 2 { // a single loss may be caused by a disturbance, but a repeated loss is real
		lines := b.shortForm(messages, speedRounds)
		if list = result.Guard(recorded.Short, lines); len(result.Failed(list)) == 0 {
			break
		}
	}
	fmt.Fprintf(out, "median of %d rounds, compared with the results recorded on %v\n\n", speedRounds, recorded.Machine)
	fmt.Fprint(out, result.Table(result.ComparisonRows(list)))
	if len(result.Failed(list)) > 0 {
		return fmt.Errorf("%w: against %s; when it is meant, record again with go run . -record", errNotMet, recordedFile)
	}
	return nil
}
