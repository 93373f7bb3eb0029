package chain

import "github.com/receiptkit/receiptkit/canon"

// maxFailures is how many failures a [Segment] names; the rest is counted.
const maxFailures = 100

// A Segment is a run of receipts of one stream in the order in which they were
// read: what is left to know of them when the next ones come. Segments of
// adjacent runs merge to the segment of the whole run, so a stream can be split
// over workers or machines.
//
// The zero Segment is that of no receipts.
type Segment struct {
	Stream   Stream
	Count    uint64       // receipts
	First    bool         // the first receipt states that nothing precedes it
	Previous canon.Digest // what the first receipt names as its predecessor; zero when First
	Head     canon.Digest // the stated hash of the last receipt
	Failures Failures
}

// Failures are the places of a segment where a receipt does not follow the one
// before it.
type Failures struct {
	Count  uint64
	Places []Failure // the first 100
}

// A Failure is a receipt that names another predecessor than the one before it,
// or none.
type Failure struct {
	Index    uint64       // of the receipt in the segment, from 0
	First    bool         // it states that nothing precedes it
	Previous canon.Digest // what it names; zero when First
	Expected canon.Digest // the stated hash of the receipt before it
}

// SegmentOf returns the segment of one receipt.
func SegmentOf(s Stream, l Link) Segment {
	return Segment{Stream: s, Count: 1, First: l.First, Previous: l.Previous, Head: l.Hash}
}

// Joins reports whether b can follow a: its first receipt names a's head, the
// stated hash of the last receipt. Everything follows the empty segment.
func (a Segment) Joins(b Segment) bool {
	return a.Count == 0 || b.Count == 0 || !b.First && b.Previous == a.Head
}

// Merge returns the segment of the receipts of a and then those of b, which must
// be of one stream. Where b does not follow a, that is one more failure. Merge is
// associative, and the empty segment is neutral.
func (a Segment) Merge(b Segment) Segment {
	switch {
	case a.Count == 0:
		return b
	case b.Count == 0:
		return a
	}

	m := a
	if !a.Joins(b) {
		m.Failures = m.Failures.with(Failure{a.Count, b.First, b.Previous, a.Head})
	}
	m.Failures = m.Failures.and(b.Failures, a.Count)
	m.Count += b.Count
	m.Head = b.Head
	return m
}

// with returns f and one more. It never writes past the end of a list that others
// share.
func (f Failures) with(more Failure) Failures {
	return f.and(Failures{1, []Failure{more}}, 0)
}

// and returns f and then those of g, whose segment begins at offset.
func (f Failures) and(g Failures, offset uint64) Failures {
	if g.Count == 0 {
		return f
	}
	room := min(maxFailures-len(f.Places), len(g.Places))
	// Without spare room, so that appending copies what others may share.
	places := f.Places[:len(f.Places):len(f.Places)]
	for _, p := range g.Places[:room] {
		p.Index += offset
		places = append(places, p)
	}
	return Failures{f.Count + g.Count, places}
}
