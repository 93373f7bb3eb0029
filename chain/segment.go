package chain

import "github.com/receiptkit/receiptkit/canon"

// A Segment summarizes consecutive receipts of one stream, in the order in which they were read. It
// contains all the information needed to continue with the receipts that follow. The segments of
// adjacent parts of a stream can be merged, so a stream can be divided among workers or machines.
//
// The zero Segment is the segment of no receipts.
type Segment struct {
	Stream   Stream
	Count    uint64       // number of receipts
	First    bool         // the first receipt states that it has no predecessor
	Previous canon.Digest // the predecessor that the first receipt states; zero if First is set
	Head     canon.Digest // the stated hash of the last receipt
	Failures uint64       // number of receipts after the first that do not state the preceding receipt as their predecessor
}

// SegmentOf returns the segment of a single receipt.
func SegmentOf(s Stream, l Link) Segment {
	return Segment{Stream: s, Count: 1, First: l.First, Previous: l.Previous, Head: l.Hash}
}

// Joins reports whether b can follow a, that is, whether the first receipt of b states the head of
// a as its predecessor. The head is the stated hash of a's last receipt. Every segment can follow
// the empty segment.
func (a Segment) Joins(b Segment) bool {
	return a.Count == 0 || b.Count == 0 || !b.First && b.Previous == a.Head
}

// Merge returns the segment that consists of the receipts in a, followed by the receipts in b. Both
// must belong to the same stream. If b cannot follow a, the result has an additional failure. Merge
// is associative, and the empty segment is its identity.
func (a Segment) Merge(b Segment) Segment {
	switch {
	case a.Count == 0:
		return b
	case b.Count == 0:
		return a
	}

	m := a
	if !a.Joins(b) {
		m.Failures++
	}
	m.Failures += b.Failures
	m.Count += b.Count
	m.Head = b.Head
	return m
}
