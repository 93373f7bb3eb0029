package stream

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/input"
)

// An item is one document on its way from the reader over a worker to whoever
// asked, or the end of a source. Items are reused.
type item struct {
	input.Piece
	from, to int // of data in its batch
	source   int

	number int // of the document in its source, from 1

	v     *receipt.Verifier // who judged it
	rep   receipt.Report
	facts facts
	other string // what the document is instead of a receipt; it is skipped
	again bool   // it is a copy of a receipt before it
	copy  bool   // and has the same verdict: not counted

	alone  outcome // what it is counted as if its link holds
	before bool    // and that explains it whatever is found of the link

	foreign bool // it does not name the predecessor that was given

	end  bool  // no document: the source has ended
	err  error // why it ended before its end; nil otherwise
	docs int   // how many documents it held
}

// spare reports whether an item is a copy that does not count: one that is refuted does.
func (it *item) spare() bool { return it.copy && it.rep.Verdict != receipt.Refuted }
