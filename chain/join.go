package chain

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
)

// Join joins segments by their links, whatever their order: a segment whose
// first receipt names another's head follows it. The result is ordered by
// stream, then by what the first receipt names, and depends neither on the order
// of the segments nor, in streams without forks, on what was joined before:
// joining joined segments with others gives what joining all at once gives.
//
// What names the same predecessor as another segment (a fork), and what only
// follows itself (a cycle), is not joined but returned as it is. A stream that
// is whole is one segment. Join does not look into segments, so a fork from the
// inside of one looks like one whose predecessor is missing.
func Join(segments []Segment) []Segment {
	pending := slices.DeleteFunc(slices.Clone(segments), func(s Segment) bool { return s.Count == 0 })
	slices.SortFunc(pending, compareSegments)

	// Where several name one head there is a fork, and none of them is the follower.
	follower := map[place]int{} // the one segment that names a head; -1 when several do
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

	owners := map[place]int{} // how many segments end in a head
	for _, s := range pending {
		owners[place{s.Stream, s.Head}]++
	}

	// A head that two segments end in does not say which of them is followed.
	next := func(s Segment) (int, bool) {
		at := place{s.Stream, s.Head}
		i, named := follower[at]
		return i, named && i >= 0 && owners[at] == 1
	}

	led := make([]bool, len(pending)) // another segment leads to it
	for _, s := range pending {
		if i, ok := next(s); ok {
			led[i] = true
		}
	}

	// Whole runs begin where nothing leads.
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
		if !done[i] { // everything leads to it: a cycle
			joined = append(joined, s)
		}
	}

	slices.SortFunc(joined, compareSegments)
	return joined
}

// A place is a digest in a stream.
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
