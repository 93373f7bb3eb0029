package survey

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
)

// Wanted specifies how an input's streams must begin and what they must contain.
type Wanted struct {
	After  map[chain.Stream]chain.Head // the hash and count of the head that the first receipt must follow
	Expect map[chain.Stream]chain.Head // the head that must be in the input

	// Requirements for an input with one stream.
	One         bool         // a second stream is an error
	First, Last canon.Digest // the hash that the first receipt must name, and that of the last; zero: any
}

// Head returns a stream's expected head, or zero.
func (w *Wanted) Head(stream chain.Stream) chain.Head {
	if h := w.Expect[stream]; !h.IsZero() {
		return h
	}
	return chain.Head{Hash: w.Last}
}

// Previous returns the hash that a stream's first receipt must name, or zero if it is unknown.
func (w *Wanted) Previous(stream chain.Stream) canon.Digest {
	if h := w.After[stream].Hash; !h.IsZero() {
		return h
	}
	return w.First
}

// An End states where a stream ends in an input, and whether the expected head is in the input.
type End struct {
	chain.Segment
	Found bool
}

// Terms specify how receipts are surveyed.
type Terms struct {
	Wanted
	Partial   bool   // the input is a selection of its streams
	Unordered bool   // no source is in the order of its chains
	TempDir   string // directory for records that do not fit into memory; "": they stay in memory
	Indexed   int    // number of receipts that are kept in memory for comparison

	// Bounded reports whether an ordered input may have this many streams, with names of this many
	// bytes in total.
	Bounded func(streams, names int) bool
}
