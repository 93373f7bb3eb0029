package chain_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
)

func digest(n int) (d canon.Digest) {
	binary.BigEndian.PutUint64(d[:], uint64(n))
	return d
}

// links returns a complete stream of n receipts.
func links(n int) []chain.Link {
	list := []chain.Link{{First: true, Hash: digest(1)}}
	for i := 2; i <= n; i++ {
		list = append(list, chain.Link{Previous: digest(i - 1), Hash: digest(i)})
	}
	return list
}

func fold(s chain.Stream, list []chain.Link) (whole chain.Segment) {
	for _, l := range list {
		whole = whole.Merge(chain.SegmentOf(s, l))
	}
	return whole
}

// damage removes, repeats, swaps, and forges links.
func damage(r *rand.Rand, list []chain.Link) []chain.Link {
	for range r.IntN(4) {
		i, j := r.IntN(len(list)), r.IntN(len(list))
		switch r.IntN(4) {
		case 0:
			list = slices.Delete(list, i, i+1)
		case 1:
			list = slices.Insert(list, j, list[i])
		case 2:
			list[i], list[j] = list[j], list[i]
		case 3:
			list[i] = chain.Link{First: r.IntN(2) == 0, Hash: digest(r.IntN(1000))}
		}
		if len(list) == 0 {
			return links(1)
		}
	}
	return list
}

// TestMergeIsAssociative verifies that merging the parts of a run produces the same segment as a
// single pass, regardless of how the run is split and of the order in which adjacent parts are
// merged.
func TestMergeIsAssociative(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	stream := chain.Stream{Issuer: "i", Workspace: "w"}
	for range 2000 {
		list := damage(r, links(1+r.IntN(400)))
		if r.IntN(10) == 0 {
			list = slices.Repeat(links(1), 250)
		}
		want := fold(stream, list)
		var parts []chain.Segment
		for rest := list; len(rest) > 0; {
			n := 1 + r.IntN(len(rest))
			parts = append(parts, fold(stream, rest[:n]))
			rest = rest[n:]
			if r.IntN(3) == 0 {
				parts = append(parts, chain.Segment{})
			}
		}
		for len(parts) > 1 {
			i := r.IntN(len(parts) - 1)
			parts[i] = parts[i].Merge(parts[i+1])
			parts = slices.Delete(parts, i+1, i+2)
		}
		if parts[0] != want {
			t.Fatalf("%v:\n%+v, want\n%+v", list, parts[0], want)
		}
	}
}

// TestJoins verifies that the empty segment can be joined to every segment, on either side, and
// that the first receipt of any other segment must state the preceding head as its predecessor.
func TestJoins(t *testing.T) {
	s := chain.Stream{Issuer: "i"}
	list := links(4)
	first, middle, last, none := fold(s, list[:2]), fold(s, list[2:3]), fold(s, list[3:]), chain.Segment{}
	zero := chain.SegmentOf(s, chain.Link{Hash: digest(9)}) // states 32 zero bytes as its predecessor, which are not the hash of any receipt
	for _, c := range []struct {
		a, b chain.Segment
		want bool
	}{
		{none, none, true}, {none, first, true}, {none, middle, true}, {first, none, true}, {middle, none, true},
		{first, middle, true}, {middle, last, true}, {first, last, false}, {middle, first, false}, {last, first, false}, {first, first, false},
		{none, zero, true}, {first, zero, false}, {chain.Segment{Count: 1}, first, false}, {chain.Segment{Count: 1}, zero, true},
	} {
		if c.a.Joins(c.b) != c.want {
			t.Errorf("%+v and %+v: %v", c.a, c.b, !c.want)
		}
	}
}

// TestJoinTies verifies that the order of segments does not matter even if they differ in one field
// only.
func TestJoinTies(t *testing.T) {
	base := chain.Segment{Stream: chain.Stream{Issuer: "i"}, Count: 3, Previous: digest(4), Head: digest(5), Failures: 1}
	for name, change := range map[string]func(*chain.Segment){
		"stream":   func(s *chain.Segment) { s.Stream.Issuer = "j" },
		"first":    func(s *chain.Segment) { s.First = true },
		"previous": func(s *chain.Segment) { s.Previous = digest(6) },
		"head":     func(s *chain.Segment) { s.Head = digest(6) },
		"count":    func(s *chain.Segment) { s.Count = 2 },
		"failures": func(s *chain.Segment) { s.Failures = 2 },
	} {
		other := base
		change(&other)
		if there, back := chain.Join([]chain.Segment{base, other}), chain.Join([]chain.Segment{other, base}); !slices.Equal(there, back) {
			t.Errorf("%s: %+v in one order, %+v in the other", name, there, back)
		}
	}
}

func TestSegmentFailures(t *testing.T) {
	s := chain.Stream{}
	whole := fold(s, links(5))
	if whole.Count != 5 || !whole.First || whole.Head != digest(5) || whole.Failures != 0 {
		t.Errorf("%+v", whole)
	}
	if gap := fold(s, slices.Delete(links(5), 2, 3)); gap.Failures != 1 {
		t.Errorf("%+v", gap)
	}
	if again := fold(s, append(links(3), links(1)...)); again.Failures != 1 {
		t.Errorf("a second first receipt: %+v", again)
	}
}

// TestJoinAnyOrder verifies that the result of Join depends neither on the order of the segments
// nor on earlier joins, even if receipts are missing from the streams.
func TestJoinAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		var all, want []chain.Segment
		for i := range 1 + r.IntN(3) {
			s := chain.Stream{Issuer: "i", Tenant: string(rune('a' + i)), HasTenant: true}
			list := links(1 + r.IntN(60))
			if r.IntN(2) == 0 && len(list) > 2 { // the first receipt of the stream is missing
				list = list[1:]
			}
			if r.IntN(2) == 0 && len(list) > 3 {
				list = slices.Delete(list, 1, 2)
			}
			for _, l := range list {
				all = append(all, chain.SegmentOf(s, l))
			}
		}
		want = chain.Join(all)
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		parts := all
		for len(parts) > 0 && r.IntN(4) != 0 {
			n := r.IntN(len(parts) + 1)
			parts = append(chain.Join(parts[:n]), parts[n:]...)
			r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		}
		if got := chain.Join(parts); !slices.Equal(got, want) {
			t.Fatalf("%+v, want\n%+v", got, want)
		}
		var count uint64
		for _, s := range want {
			count += s.Count
		}
		if count != uint64(len(all)) {
			t.Fatalf("%d receipts, want %d", count, len(all))
		}
	}
}

func TestJoinLeavesForksAndCycles(t *testing.T) {
	s := chain.Stream{}
	one := func(previous, hash int) chain.Segment {
		return chain.SegmentOf(s, chain.Link{First: previous == 0, Previous: digest(previous), Hash: digest(hash)})
	}
	for name, c := range map[string]struct {
		in   []chain.Segment
		want int
	}{
		"none":            {nil, 0},
		"empty":           {[]chain.Segment{{}}, 0},
		"fork":            {[]chain.Segment{one(0, 1), one(1, 2), one(1, 3)}, 3},
		"two first":       {[]chain.Segment{one(0, 1), one(0, 2)}, 2},
		"cycle":           {[]chain.Segment{one(1, 2), one(2, 1)}, 2},
		"cycle of itself": {[]chain.Segment{one(1, 1)}, 1},
		"cycle and whole": {[]chain.Segment{one(8, 9), one(9, 8), one(0, 1), one(1, 2)}, 3},
		"same head":       {[]chain.Segment{one(0, 2), one(1, 2), one(2, 3)}, 3},
		"head of zeros":   {[]chain.Segment{one(5, 0), one(0, 1)}, 2}, // the first states no predecessor
		"streams":         {[]chain.Segment{one(0, 1), {Stream: chain.Stream{Issuer: "x"}, Count: 1, Previous: digest(1), Head: digest(2)}}, 2},
	} {
		if got := chain.Join(c.in); len(got) != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
