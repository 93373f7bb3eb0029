package chain

import "github.com/receiptkit/receiptkit/canon"

// maxFailures is the number of failures that a [Segment] lists. Further failures are only
// counted.
const maxFailures = 100

// A Segment summarizes a run of receipts of one stream, in the order in which they were read.
// It contains everything that is needed to continue with the next receipts. Segments of
// adjacent runs merge into the segment of the entire run, so a stream can be divided among
// workers or machines.
//
// The zero Segment contains no receipts.
type Segment struct {
	Stream   Stream
	Count    uint64       // number of receipts
	First    bool         // the first receipt states that it has no predecessor
	Previous canon.Digest // the predecessor that the first receipt names; zero if First
	Head     canon.Digest // the stated hash of the last receipt
	Failures Failures
}

// Failures are the places in a segment where a receipt does not follow the previous one.
type Failures struct {
	Count  uint64
	Places []Failure // the first 100
}

// A Failure is a receipt that names a predecessor other than the previous receipt, or none.
type Failure struct {
	Index    uint64       // of the receipt in the segment, from 0
	First    bool         // the receipt states that it has no predecessor
	Previous canon.Digest // the predecessor that it names; zero if First
	Expected canon.Digest // the stated hash of the previous receipt
}

// SegmentOf returns the segment of a single receipt.
func SegmentOf(s Stream, l Link) Segment {
	return Segment{Stream: s, Count: 1, First: l.First, Previous: l.Previous, Head: l.Hash}
}

// Joins reports whether b can follow a, that is, whether the first receipt of b names the head
// of a, the stated hash of its last receipt. Every segment can follow the empty segment.
func (a Segment) Joins(b Segment) bool {
	return a.Count == 0 || b.Count == 0 || !b.First && b.Previous == a.Head
}

// Merge returns the segment of the receipts of a followed by those of b, which must belong to
// the same stream. If b does not follow a, the result has one more failure. Merge is
// associative, and the empty segment is its identity.
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

// with returns f with one more failure. It never writes past the end of a list, which may be
// shared.
func (f Failures) with(more Failure) Failures {
	return f.and(Failures{1, []Failure{more}}, 0)
}

// and returns the failures of f followed by those of g, whose segment begins at offset.
func (f Failures) and(g Failures, offset uint64) Failures {
	if g.Count == 0 {
		return f
	}
	room := min(maxFailures-len(f.Places), len(g.Places))
	// Clip the capacity, so that append copies a list that may be shared.
	places := f.Places[:len(f.Places):len(f.Places)]
	for _, p := range g.Places[:room] {
		p.Index += offset
		places = append(places, p)
	}
	return Failures{f.Count + g.Count, places}
}
