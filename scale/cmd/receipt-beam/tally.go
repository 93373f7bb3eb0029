package main

import (
	"github.com/receiptkit/receiptkit/internal/join"
)

// A tally counts the receipts for which the groupings have finished, and emits the results for some
// of them.
type tally struct {
	Strict bool

	counts join.Counts
}

// StartBundle resets the counts, so that counts from a worker that died are discarded.
func (t *tally) StartBundle(_ func(int, []byte), _ func(int, []byte)) { t.counts = join.Counts{} }

// ProcessElement counts one receipt. Its result, if any, is sent to the input that contains the
// related receipt, where the name of that receipt is known. The result for a copy, or for a receipt
// without a related receipt, is sent to the receipt's own input.
func (t *tally) ProcessElement(record []byte, _ func(int, []byte), marks func(int, []byte)) error {
	r, err := join.Parse(record)
	if err != nil {
		return err
	}
	t.counts.Record(&r, t.Strict)
	switch {
	case r.Mark == join.MarkLinked, r.Mark == join.MarkDamaged: // workers find these results themselves
	case r.Mark == join.MarkCopy, r.Related == join.Place{}:
		marks(r.Place.Source, append([]byte{ofLink}, record...))
	default:
		marks(r.Related.Source, append([]byte{ofLink}, record...))
	}
	return nil
}

// FinishBundle emits the counts.
func (t *tally) FinishBundle(counts func(int, []byte), _ func(int, []byte)) error {
	return emitJSON(counts, ofAll, t.counts)
}
