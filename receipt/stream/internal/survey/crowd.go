package survey

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/join"
)

// A crowd contains the unpacked receipts of several rosters, in the form in which a survey
// processes the receipts of all their sources.
type crowd struct {
	streams  []chain.Stream
	sources  []crowdSource
	Outcomes bool // every roster contains the outcomes of its receipts
	whole    bool // one of the rosters was requested in full, regardless of its size
}

type crowdSource struct {
	Attendance
	list []Attendee
}

// CrowdOf combines the receipts of several rosters, in an order that does not depend on the order
// of the rosters.
func CrowdOf(rosters ...*Roster) (*crowd, error) {
	c := &crowd{Outcomes: true}
	for _, r := range rosters {
		c.streams = append(c.streams, r.Streams...)
		c.Outcomes, c.whole = c.Outcomes && r.Outcomes, c.whole || r.Whole
	}
	slices.SortFunc(c.streams, chain.Stream.Compare)
	c.streams = slices.Compact(c.streams)

	// Each roster numbers its streams separately.
	for _, r := range rosters {
		for _, in := range r.Sources {
			list, err := in.unpack(len(r.Streams))
			if err != nil {
				return nil, err
			}
			for i := range list {
				list[i].stream, _ = slices.BinarySearchFunc(c.streams, r.Streams[list[i].stream], chain.Stream.Compare)
				if !c.Outcomes {
					list[i].Outcome, list[i].Before = verified(), list[i].Before && list[i].Fault != nil
				}
			}
			c.sources = append(c.sources, crowdSource{in, list})
		}
	}

	slices.SortFunc(c.sources, func(a, b crowdSource) int {
		return cmp.Or(slices.CompareFunc(a.list, b.list, compareAttendees), cmp.Compare(flag(a.Partial), flag(b.Partial)), cmp.Compare(flag(a.Unordered), flag(b.Unordered)), cmp.Compare(a.Unplaced, b.Unplaced))
	})
	return c, nil
}

func compareAttendees(a, b Attendee) int {
	return cmp.Or(bytes.Compare(a.link.Hash[:], b.link.Hash[:]), bytes.Compare(a.computed[:], b.computed[:]), cmp.Compare(a.stream, b.stream),
		bytes.Compare(a.link.Previous[:], b.link.Previous[:]), cmp.Compare(flag(a.link.First), flag(b.link.First)), bytes.Compare(a.id[:], b.id[:]), cmp.Compare(a.issued, b.issued), compareFaults(a.Fault, b.Fault),
		cmp.Compare(a.Own, b.Own), cmp.Compare(a.Reason, b.Reason), cmp.Compare(flag(a.Spare), flag(b.Spare)), cmp.Compare(flag(a.Before), flag(b.Before)))
}

func compareFaults(a, b *Fumble) int {
	switch {
	case a == nil || b == nil:
		return cmp.Compare(flag(a != nil), flag(b != nil))
	}
	return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.own, b.own), cmp.Compare(a.reason, b.reason), cmp.Compare(flag(a.healed), flag(b.healed)), cmp.Compare(flag(a.left), flag(b.left)))
}

// Each calls f for every receipt, represented as an item of a survey.
func (c *crowd) Each(f func(*Item, *Attendee) error) error {
	it := new(Item)
	for i := range c.sources {
		for k := range c.sources[i].list {
			a := &c.sources[i].list[k]
			it.Source, it.Index = i, k+1
			it.Facts = Facts{Placed: true, holds: a.holds(), Link: a.link, Computed: a.computed, ID: a.id,
				Key: streamKey(nil).appendStream(c.streams[a.stream]), Issued: time.UnixMilli(a.issued)}
			if err := f(it, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// Survey joins the receipts by their links, in the same way as a run over all sources.
func (c *crowd) Survey() (*Survey, error) {
	s := New(Terms{Indexed: MaxIndexed})
	s.sources, s.listed = make([]string, len(c.sources)), make([]bool, len(c.sources))
	defer s.Close()

	err := c.Each(func(it *Item, _ *Attendee) error { return s.Record(it) })
	if err != nil {
		return nil, err
	}

	// If a document could not be read in a part, it may be the missing predecessor of a receipt.
	for _, in := range c.sources {
		s.gaps += in.Unplaced
		s.mixed = append(s.mixed, in.Unordered)
	}
	s.selections = c.selections(s)
	if err := s.Join(); err != nil {
		return nil, err
	}

	// The order of the receipts within each source is checked in the same way as in a second pass.
	number := 0
	return s, c.Each(func(it *Item, _ *Attendee) error {
		s.follow(number, it)
		number++
		return nil
	})
}

// Spares determines which copies are not counted when all receipts are considered together. It
// returns the receipts that are newly counted or no longer counted.
func (c *crowd) Spares(v *Survey) (changed []*Attendee) {
	var list []*Attendee
	_ = c.Each(func(_ *Item, a *Attendee) error {
		list = append(list, a)
		return nil
	})

	// As in a second pass, copies of a receipt are counted once per outcome, but every refuted copy
	// is counted.
	counted := map[int][]Outcome{} // key: number of the first copy
	for _, original := range v.originals {
		counted[original] = nil
	}

	for number, a := range list {
		about := number
		if a.again = v.Marks[number] == join.MarkCopy; a.again {
			about = v.originals[number]
		}

		// Only receipts with copies have an entry.
		spare := false
		if outcomes, repeated := counted[about]; repeated {
			own := a.Alone()
			if spare = a.again && slices.Contains(outcomes, own); !spare {
				counted[about] = own.repeated(outcomes)
			}
		}

		if a.Spare != spare {
			a.Spare = spare
			changed = append(changed, a)
		}
	}
	return changed
}

// Linked returns the receipts whose links were valid within a part but are unchecked among all
// receipts. The key is the number of the first copy.
func (c *crowd) Linked(v *Survey) map[int]bool {
	list, number := map[int]bool{}, 0
	_ = c.Each(func(_ *Item, a *Attendee) error {
		if v.Found(number).Open() && a.linked() {
			list[v.First(number)] = true
		}
		number++
		return nil
	})
	return list
}

// Shared returns the receipts that occur in more than one roster.
func (c *crowd) Shared(v *Survey) (list []canon.Digest) {
	copies, number := map[canon.Digest]int{}, 0
	_ = c.Each(func(_ *Item, a *Attendee) error {
		if v.Marks[number] == join.MarkCopy {
			copies[a.computed]++
		}
		if a.again {
			copies[a.computed]--
		}
		number++
		return nil
	})

	// Copies within a single roster are not shared.
	for d, n := range copies {
		if n > 0 {
			list = append(list, d)
		}
	}
	return list
}

// selections returns, for each stream, whether all, some, or none of its sources are selections.
func (c *crowd) selections(s *Survey) []selection {
	of := make([][2]bool, len(s.names)) // for each stream: whether any of its sources is complete, and whether any of them is a selection
	_ = c.Each(func(it *Item, _ *Attendee) error {
		of[s.streams[string(it.Facts.Key)]][flag(c.sources[it.Source].Partial)] = true
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

// Pack packs all receipts into one roster, regardless of their number, because the parts were in
// memory as well.
func (c *crowd) Pack() *Roster {
	r := &Roster{Streams: c.streams, Outcomes: c.Outcomes, Whole: c.whole}
	for _, in := range c.sources {
		r.Receipts += len(in.list)
		r.coder.begin(len(c.streams))
		in.Packed = nil
		for i := range in.list {
			in.Packed = r.coder.append(in.Packed, &in.list[i])
		}
		r.Sources = append(r.Sources, in.Attendance)
	}
	return r
}

// Hashes returns the hashes of all receipts.
func (c *crowd) Hashes() (list []canon.Digest) {
	for _, in := range c.sources {
		for i := range in.list {
			list = append(list, in.list[i].computed)
		}
	}
	return list
}
