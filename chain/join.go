package chain

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
)

// Join joins segments by their links, in any order: a segment whose first receipt names the head of
// another segment follows that segment. The result is sorted by stream, then by the predecessor of
// the first receipt. The result does not depend on the order of the segments. In streams without
// forks, the result also does not depend on earlier joins: joining already joined segments with
// others produces the same result as joining all of them in one call.
//
// A segment is returned unjoined if it names the same predecessor as another segment (a fork), or
// if it follows only itself (a cycle). A complete stream is one segment. Join does not look inside
// segments, so a fork from the middle of a segment looks like a segment whose predecessor is
// missing.
func Join(segments []Segment) []Segment {
	pending := slices.DeleteFunc(slices.Clone(segments), func(s Segment) bool { return s.Count == 0 })
	slices.SortFunc(pending, compareSegments)

	// If several segments name the same head, the stream forks there, and none of these segments
	// counts as the follower.
	follower := map[place]int{} // the only segment that names a head; -1 if several segments name it
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

	owners := map[place]int{} // the number of segments that end in a given head
	for _, s := range pending {
		owners[place{s.Stream, s.Head}]++
	}

	// If two segments end in the same head, it is unknown which of them the next segment follows.
	next := func(s Segment) (int, bool) {
		at := place{s.Stream, s.Head}
		i, named := follower[at]
		return i, named && i >= 0 && owners[at] == 1
	}

	led := make([]bool, len(pending)) // another segment precedes it
	for _, s := range pending {
		if i, ok := next(s); ok {
			led[i] = true
		}
	}

	// A complete run begins at a segment without a predecessor.
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
		if !done[i] { // every segment in it has a predecessor, so it is a cycle
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
		bytes.Compare(a.Previous[:], b.Previous[:]), bytes.Compare(a.Head[:], b.Head[:]), cmp.Compare(a.Count, b.Count))
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
