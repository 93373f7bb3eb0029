package main

import (
	"github.com/receiptkit/receiptkit/receipt/stream/join"
)

// A tally counts the receipts that the groupings are done with, and hands on what they
// found of some.
type tally struct {
	Strict bool

	counts join.Counts
}

// StartBundle begins: what a worker counted that died counts no more.
func (t *tally) StartBundle(_ func(int, []byte), _ func(int, []byte)) { t.counts = join.Counts{} }

// ProcessElement counts one receipt. What was found goes where the receipt was read that it
// is about, for the name of that.
func (t *tally) ProcessElement(record []byte, _ func(int, []byte), marks func(int, []byte)) error {
	r, err := join.Parse(record)
	if err != nil {
		return err
	}
	t.counts.Record(&r, t.Strict)
	switch {
	case r.Mark == join.MarkLinked, r.Mark == join.MarkDamaged: // as a worker sees by itself
	case r.Mark == join.MarkCopy, r.Related == join.Place{}:
		marks(r.Place.Source, append([]byte{ofLink}, record...))
	default:
		marks(r.Related.Source, append([]byte{ofLink}, record...))
	}
	return nil
}

// FinishBundle hands the counts on.
func (t *tally) FinishBundle(counts func(int, []byte), _ func(int, []byte)) error {
	return emitJSON(counts, ofAll, t.counts)
}
