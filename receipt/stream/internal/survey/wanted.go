package survey

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
)

// Wanted specifies how the streams of an input must begin and what they must contain.
type Wanted struct {
	After  map[chain.Stream]chain.Head // the head that the first receipt in each stream must follow, with its hash and count
	Expect map[chain.Stream]chain.Head // the head that each stream must contain

	// These are requirements for an input with only one stream.
	One         bool         // a second stream is an error
	First, Last canon.Digest // the hash that the first receipt must name, and the hash that the last receipt must have; zero allows any hash
}

// Head returns the expected head of a stream, or zero if none is expected.
func (w *Wanted) Head(stream chain.Stream) chain.Head {
	if h := w.Expect[stream]; !h.IsZero() {
		return h
	}
	return chain.Head{Hash: w.Last}
}

// Previous returns the hash that the first receipt of a stream must name, or zero if any hash is
// allowed.
func (w *Wanted) Previous(stream chain.Stream) canon.Digest {
	if h := w.After[stream].Hash; !h.IsZero() {
		return h
	}
	return w.First
}

// An End describes the end of a stream in an input, and whether the input contains the expected
// head.
type End struct {
	chain.Segment
	Found bool
}

// Terms specify how the receipts of an input are checked.
type Terms struct {
	Wanted
	Partial   bool   // the input is only a selection of its streams
	Unordered bool   // the receipts of a source may be in any order
	TempDir   string // directory for records that do not fit into memory; "" keeps them in memory
	Indexed   int    // maximum number of receipts that are kept in memory for comparisons

	// Bounded reports whether an ordered input may have the given number of streams, whose names
	// have the given total length in bytes.
	Bounded func(streams, names int) bool
}
