package survey

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
)

// Wanted is what is wanted of the streams of an input.
type Wanted struct {
	After  map[chain.Stream]chain.Head // what their first receipts must follow
	Expect map[chain.Stream]chain.Head // what they must hold

	// Of an input of one stream.
	One         bool         // it has to be one
	First, Last canon.Digest // what its first receipt must name, and the hash of its last one; zero: anything
}

// Head is the head that is expected of a stream; zero when none is.
func (w *Wanted) Head(stream chain.Stream) chain.Head {
	if h := w.Expect[stream]; !h.IsZero() {
		return h
	}
	return chain.Head{Hash: w.Last}
}

// Previous is what the first receipt of a stream must name; zero when that is not
// known.
func (w *Wanted) Previous(stream chain.Stream) canon.Digest {
	if h := w.After[stream].Hash; !h.IsZero() {
		return h
	}
	return w.First
}

// A End is where a stream ends in an input, and whether the head that was
// expected is in it.
type End struct {
	chain.Segment
	Found bool
}

// Terms say how receipts are surveyed.
type Terms struct {
	Wanted
	Partial   bool                          // the input is a selection of its streams
	Unordered bool                          // no source is in the order of its chains
	TempDir   string                        // for records that do not fit into memory; empty: all of them stay there
	Indexed   int                           // how many receipts are kept in memory, to compare them
	Bounded   func(streams, names int) bool // whether an ordered input may have so many streams, with so many bytes of names
}
