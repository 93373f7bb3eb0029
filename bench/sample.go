package main

import (
	"context"
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// A sample is a set of receipts from a corpus. They are distributed over the rounds, so that all
// rounds together use many receipts.
type sample struct {
	slices  [][][]byte // by round
	first   [][]byte   // the first receipts from the corpus, in order
	keyFile []byte
	set     *keys.Set
	warmed  bool // the keys have been used
	total   int  // number of receipts of the corpus

	headBytes int64 // total length of the first headCount receipts, one per line
}

const (
	chained   = 2000   // number of consecutive receipts in a sample
	headCount = 50_000 // enough receipts for several seconds
)

// take generates the receipts of a corpus in order. If w is not nil, it writes each receipt to w as
// a line. It keeps count receipts, evenly spaced, for the rounds.
func take(ctx context.Context, config corpus.Config, rounds, count int, w io.Writer) (*sample, error) {
	c, err := corpus.New(config)
	if err != nil {
		return nil, err
	}
	s := &sample{slices: make([][][]byte, rounds), total: config.Receipts}
	if s.keyFile, err = c.Keys(); err != nil {
		return nil, err
	}
	if s.set, err = keys.ParseSet(s.keyFile); err != nil {
		return nil, err
	}
	kept, line := 0, []byte(nil)
	for number, text := range c.All() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if w != nil {
			line = append(append(line[:0], text...), '\n')
			if _, err := w.Write(line); err != nil {
				return nil, err
			}
		}
		if number <= headCount {
			s.headBytes += int64(len(text)) + 1
		}
		if number <= chained {
			s.first = append(s.first, text)
		}
		if (number-1)*count/config.Receipts == kept && kept < count {
			s.slices[kept%rounds] = append(s.slices[kept%rounds], text)
			kept++
		}
	}
	if kept < count || len(s.slices[rounds-1]) == 0 {
		return nil, fmt.Errorf("the corpus has %d receipts, too few for a sample of %d in %d rounds", config.Receipts, count, rounds)
	}
	return s, nil
}

func (s *sample) slice(round int) [][]byte { return s.slices[round%len(s.slices)] }

// size returns the total length of receipts in bytes.
func size(receipts [][]byte) (n int) {
	for _, r := range receipts {
		n += len(r)
	}
	return n
}
