package chain

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
)

// Join joins segments by their links: a segment follows another segment if its first receipt states
// the other segment's head as its predecessor. The result is sorted by stream, then by the
// predecessor of the first receipt. The order of the given segments does not affect the result. If
// a stream has no forks, its segments can also be joined in several calls, with the same result as
// in a single call.
//
// A segment is not joined to a predecessor if another segment states the same predecessor (a fork),
// if several segments end with that predecessor, or if the segment is part of a cycle. A complete
// stream is joined into a single segment. Join has no information about the receipts within a
// segment, so a segment that forks from the middle of another segment is treated as if its
// predecessor were missing.
func Join(segments []Segment) []Segment {
	pending := slices.DeleteFunc(slices.Clone(segments), func(s Segment) bool { return s.Count == 0 })
	slices.SortFunc(pending, compareSegments)

	// If several segments state the same head as their predecessor, the stream forks at that head,
	// so none of these segments is joined to it.
	follower := map[place]int{} // the only segment that follows a given head; -1 if there are several
	for i, s := range pending {
		if s.First {
			continue
		}
		at := place{s.Stream, s.Previous}
		if _, taken := follower[at]; taken {
			follower[at] = -1
		} else {
			follower[at] = i
		}
	}

	owners := map[place]int{} // number of segments with a given head
	for _, s := range pending {
		owners[place{s.Stream, s.Head}]++
	}

	// If two segments have the same head, it is not known which of them the next segment follows.
	next := func(s Segment) (int, bool) {
		at := place{s.Stream, s.Head}
		i, named := follower[at]
		return i, named && i >= 0 && owners[at] == 1
	}

	led := make([]bool, len(pending)) // whether another segment precedes the segment
	for _, s := range pending {
		if i, ok := next(s); ok {
			led[i] = true
		}
	}

	// A run of segments begins with a segment that no other segment precedes.
	var joined []Segment
	done := make([]bool, len(pending))
	for i := range pending {
		if led[i] {
			continue
		}
		whole := pending[i]
		done[i] = true
		for j, ok := next(whole); ok; j, ok = next(whole) {
			whole, done[j] = whole.Merge(pending[j]), true
		}
		joined = append(joined, whole)
	}

	for i, s := range pending {
		if !done[i] { // every remaining segment has a predecessor, so it is part of a cycle
			joined = append(joined, s)
		}
	}

	slices.SortFunc(joined, compareSegments)
	return joined
}

// A place is a digest within a stream.
type place struct {
	stream Stream
	hash   canon.Digest
}

func compareSegments(a, b Segment) int {
	return cmp.Or(a.Stream.Compare(b.Stream), compareBool(b.First, a.First),
		bytes.Compare(a.Previous[:], b.Previous[:]), bytes.Compare(a.Head[:], b.Head[:]), cmp.Compare(a.Count, b.Count), cmp.Compare(a.Failures, b.Failures))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
