package stream

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt/stream/join"
)

// A crowd is the receipts of several rosters, unpacked: what a survey of all their
// sources would have seen.
type crowd struct {
	streams  []chain.Stream
	sources  []crowdSource
	outcomes bool // all of the rosters tell what their receipts are counted as
	whole    bool // one of them was asked for, however many its receipts are
}

type crowdSource struct {
	attendance
	list []attendee
}

// crowdOf returns the receipts of rosters together, in an order that does not
// depend on which roster a source came from.
func crowdOf(rosters ...*roster) (*crowd, error) {
	c := &crowd{outcomes: true}
	for _, r := range rosters {
		c.streams = append(c.streams, r.streams...)
		c.outcomes, c.whole = c.outcomes && r.outcomes, c.whole || r.whole
	}
	slices.SortFunc(c.streams, chain.Stream.Compare)
	c.streams = slices.Compact(c.streams)

	// Each roster numbers the streams in its own way.
	for _, r := range rosters {
		for _, in := range r.sources {
			list, err := in.unpack(len(r.streams))
			if err != nil {
				return nil, err
			}
			for i := range list {
				list[i].stream, _ = slices.BinarySearchFunc(c.streams, r.streams[list[i].stream], chain.Stream.Compare)
				if !c.outcomes {
					list[i].outcome, list[i].before = verified(), list[i].before && list[i].fault != nil
				}
			}
			c.sources = append(c.sources, crowdSource{in, list})
		}
	}

	slices.SortFunc(c.sources, func(a, b crowdSource) int {
		return cmp.Or(slices.CompareFunc(a.list, b.list, compareAttendees), cmp.Compare(flag(a.partial), flag(b.partial)), cmp.Compare(flag(a.unordered), flag(b.unordered)), cmp.Compare(a.unplaced, b.unplaced))
	})
	return c, nil
}

func compareAttendees(a, b attendee) int {
	return cmp.Or(bytes.Compare(a.link.Hash[:], b.link.Hash[:]), bytes.Compare(a.computed[:], b.computed[:]), cmp.Compare(a.stream, b.stream),
		bytes.Compare(a.link.Previous[:], b.link.Previous[:]), cmp.Compare(flag(a.link.First), flag(b.link.First)), bytes.Compare(a.id[:], b.id[:]), cmp.Compare(a.issued, b.issued), compareFaults(a.fault, b.fault),
		cmp.Compare(a.own, b.own), cmp.Compare(a.reason, b.reason), cmp.Compare(flag(a.spare), flag(b.spare)), cmp.Compare(flag(a.before), flag(b.before)))
}

func compareFaults(a, b *fumble) int {
	switch {
	case a == nil || b == nil:
		return cmp.Compare(flag(a != nil), flag(b != nil))
	}
	return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.own, b.own), cmp.Compare(a.reason, b.reason), cmp.Compare(flag(a.healed), flag(b.healed)), cmp.Compare(flag(a.left), flag(b.left)))
}

// each calls f with every receipt, as an item of a survey.
func (c *crowd) each(f func(*item, *attendee) error) error {
	it := new(item)
	for i := range c.sources {
		for k := range c.sources[i].list {
			a := &c.sources[i].list[k]
			it.source, it.Index = i, k+1
			it.facts = facts{placed: true, holds: a.holds(), link: a.link, computed: a.computed, id: a.id,
				key: streamKey(nil).appendStream(c.streams[a.stream]), issued: time.UnixMilli(a.issued)}
			if err := f(it, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// survey joins the receipts by their links, as a run over all sources does.
func (c *crowd) survey() (*survey, error) {
	s := newSurvey(&Options{}, make([]Source, len(c.sources)))
	defer s.close()
	err := c.each(func(it *item, _ *attendee) error { return s.record(it) })
	if err != nil {
		return nil, err
	}

	// What was unreadable in a part may be what a link misses here.
	for _, in := range c.sources {
		s.gaps += in.unplaced
		s.mixed = append(s.mixed, in.unordered)
	}
	s.selections = c.selections(s)
	if err := s.join(); err != nil {
		return nil, err
	}

	// As in a second reading: the order within each source.
	number := 0
	return s, c.each(func(it *item, _ *attendee) error {
		s.follow(number, it)
		number++
		return nil
	})
}

// spares finds the copies that do not count among all receipts, and returns those that
// were counted so far, or the other way round.
func (c *crowd) spares(v *survey) (changed []*attendee) {
	var list []*attendee
	_ = c.each(func(_ *item, a *attendee) error {
		list = append(list, a)
		return nil
	})

	// As in a second reading: copies count once for each outcome, and when that is refuted.
	counted := map[int][]outcome{} // by the number of the first
	for _, original := range v.originals {
		counted[original] = nil
	}
	for number, a := range list {
		about := number
		if a.again = v.marks[number] == join.MarkCopy; a.again {
			about = v.originals[number]
		}

		spare := false
		if outcomes, repeated := counted[about]; repeated {
			own := a.alone()
			if spare = a.again && slices.Contains(outcomes, own); !spare {
				counted[about] = own.repeated(outcomes)
			}
		}
		if a.spare != spare {
			a.spare = spare
			changed = append(changed, a)
		}
	}
	return changed
}

// linked returns the receipts whose link was seen to hold in a part, whatever is seen of
// it among all: by the number of the first of their copies.
func (c *crowd) linked(v *survey) map[int]bool {
	list, number := map[int]bool{}, 0
	_ = c.each(func(_ *item, a *attendee) error {
		if isOpen(v.found(number)) && a.linked() {
			list[v.first(number)] = true
		}
		number++
		return nil
	})
	return list
}

// shared returns the receipts that come again across rosters.
func (c *crowd) shared(v *survey) (list []canon.Digest) {
	copies, number := map[canon.Digest]int{}, 0
	_ = c.each(func(_ *item, a *attendee) error {
		if v.marks[number] == join.MarkCopy {
			copies[a.computed]++
		}
		if a.again {
			copies[a.computed]--
		}
		number++
		return nil
	})

	for d, n := range copies {
		if n > 0 {
			list = append(list, d)
		}
	}
	return list
}

// selections says of which streams it was said that they are selections.
func (c *crowd) selections(s *survey) []selection {
	of := make([][2]bool, len(s.names)) // by stream: a source that is whole, one that is a selection
	_ = c.each(func(it *item, _ *attendee) error {
		of[s.streams[string(it.facts.key)]][flag(c.sources[it.source].partial)] = true
		return nil
	})

	list := make([]selection, len(of))
	for i, has := range of {
		switch {
		case has[0] && has[1]:
			list[i] = selectedSome
		case has[1]:
			list[i] = selectedAll
		}
	}

	return list
}

// pack packs the receipts again, however many they are: the parts held them before.
func (c *crowd) pack() *roster {
	r := &roster{streams: c.streams, outcomes: c.outcomes, whole: c.whole}
	for _, in := range c.sources {
		r.receipts += len(in.list)
		r.coder.begin(len(c.streams))
		in.packed = nil
		for i := range in.list {
			in.packed = r.coder.append(in.packed, &in.list[i])
		}
		r.sources = append(r.sources, in.attendance)
	}
	return r
}

// hashes returns those of all receipts.
func (c *crowd) hashes() (list []canon.Digest) {
	for _, in := range c.sources {
		for i := range in.list {
			list = append(list, in.list[i].computed)
		}
	}
	return list
}
