package main

import (
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
	"github.com/receiptkit/receiptkit/bench/internal/result"
)

// guard measures the guarded lines by the first receipts of the corpus, in a few
// rounds, and compares them with what was recorded.
func (b *bench) guard(out, messages io.Writer) (err error) {
	recorded, err := result.Load(recordedFile)
	if err != nil {
		return err
	}
	b.rounds = speedRounds
	config := corpus.Config{Receipts: chained, Seed: seed}
	if b.sample, err = take(b.ctx, config, b.rounds, speedSample, nil); err != nil {
		return err
	}
	lines, err := b.lines(messages, nil, true)
	if err != nil {
		return err
	}
	list := result.Guard(recorded.Lines, lines)
	fmt.Fprintf(out, "median of %d rounds beside what was recorded on %v\n\n", b.rounds, recorded.Machine)
	fmt.Fprint(out, result.Table(result.ComparisonRows(list)))
	if len(result.Failed(list)) > 0 {
		return fmt.Errorf("%w: against %s; when it is meant, record again with go run . -record", errNotMet, recordedFile)
	}
	return nil
}
