package survey

import (
	"errors"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/rules"
)

// A Survey knows how the receipts of several sources join by their links. It is
// made by a first reading, which looks at nothing but ids and links; the second
// one verifies, and asks it about each receipt. Of a receipt it keeps one byte,
// and three records that sorters may put on disk.
type Survey struct {
	Terms
	sources []string // their names

	Marks  []rules.Mark    // of each item, in the order of reading
	others map[int]address // the receipt that the mark of an item is about

	originals map[int]int       // of each copy: the number of the receipt that it repeats
	spread    map[int]bool      // of these, the ones that other sources repeat: no order is theirs
	counted   map[int][]Outcome // of these receipts: what those that count are on their own, in the second reading
	streams   map[string]int
	names     []chain.Stream
	trails    []trail // by stream, in the second reading
	intact    []bool  // by stream: a receipt of it fits its own hash
	ends      []End   // by stream
	gaps      int     // items that state no place
	docs      []int   // of each source

	ids, hashes, links *sorter // records
	scratch            []byte  // a record on its way to them

	number int // of the next item in the second reading

	selections []selection  // by stream, in a merge; nil: as the options say
	unknown    map[int]bool // streams of parts, some of them selections, that do not join
	mixed      []bool       // by source, in a merge: it is in no order; nil: as the options say
}

// ErrStreams is returned for an input of several streams that has to be one.
var ErrStreams = errors.New("stream: the input holds several streams, so one hash or count cannot be about it; give an earlier report instead")

// ErrManyStreams is returned for an input of more streams than are allowed.
var ErrManyStreams = errors.New("stream: the input holds more streams, or longer names of them, than are allowed here")

// ErrChanged is returned when a source was not the same when it was read again.
var ErrChanged = errors.New("stream: the input changed while it was being read")

// A selection says of how much of a stream it was said that it is a selection.
type selection uint8

const (
	selectedNone selection = iota
	selectedSome           // of some parts
	selectedAll
)

func (s *Survey) selected(stream int) selection {
	switch {
	case s.selections != nil:
		return s.selections[stream]
	case s.Partial:
		return selectedAll
	}
	return selectedNone
}

// ordered reports whether a source is in the order of its chains.
func (s *Survey) ordered(source int) bool {
	if s.mixed != nil {
		return !s.mixed[source]
	}
	return !s.Unordered
}

// A trail is the last receipt of a stream in the source that is being read again.
type trail struct {
	address
	hash   canon.Digest
	begun  bool
	broken bool // something was out of place before it: one finding, not two
}

// New returns a survey of sources, which have these names.
func New(t Terms, sources []string) *Survey {
	s := &Survey{Terms: t, sources: sources, others: map[int]address{}, unknown: map[int]bool{}, originals: map[int]int{}, spread: map[int]bool{}, streams: map[string]int{},
		docs: make([]int, len(sources))}
	dir, most := t.TempDir, t.Indexed
	s.ids, s.hashes, s.links = newSorter(idRecordWidth, most, dir), newSorter(hashRecordWidth, most, dir), newSorter(linkRecordWidth, most, dir)
	return s
}

// Close gives back the memory and the files of the sorters.
func (s *Survey) Close() {
	for _, sorter := range []*sorter{s.ids, s.hashes, s.links} {
		_ = sorter.close() // files without names
	}
}

// EndSource keeps how many documents a source has.
func (s *Survey) EndSource(source, docs int) { s.docs[source] = docs }

// Record keeps the facts of one item.
func (s *Survey) Record(it *Item) error {
	number := len(s.Marks)
	f := &it.Facts
	if !f.Placed {
		s.Marks = append(s.Marks, rules.MarkUnplaced)
		if it.Other == "" {
			s.gaps++
		}
		return nil
	}

	stream, known := s.streams[string(f.Key)]
	if !known {
		stream = len(s.names)
		s.streams[string(f.Key)] = stream
		s.names, s.intact = append(s.names, f.Key.Stream()), append(s.intact, false)
	}

	at, issued := address{it.Source, it.Index}, f.Issued.UnixMilli()
	hash := hashRecord{digest: f.Link.Hash, stream: stream, number: number, address: at, damaged: !f.holds, issued: issued}
	s.addHash(&hash)
	if !f.holds {
		// A damaged receipt is known by both hashes: its successor may name either.
		s.Marks = append(s.Marks, rules.MarkDamaged)
		hash.digest, hash.content = f.Computed, true
		s.addHash(&hash)
	} else {
		if !s.intact[stream] && s.One && slices.Contains(s.intact, true) {
			return ErrStreams
		}
		s.intact[stream] = true
		s.Marks = append(s.Marks, rules.MarkLinked)
		id := idRecord{f.ID, issued, f.Computed, number, at}
		s.scratch = id.append(s.scratch[:0])
		s.ids.add(s.scratch)
	}

	link := linkRecord{f.Link.First, f.Link.Previous, stream, issued, f.Link.Hash, number, at, !f.holds}
	s.scratch = link.append(s.scratch[:0])
	s.links.add(s.scratch)
	return nil
}

func (s *Survey) addHash(r *hashRecord) {
	s.scratch = r.append(s.scratch[:0])
	s.hashes.add(s.scratch)
}

// Join finds copies and duplicate ids, and then the predecessor of each receipt.
func (s *Survey) Join() error {
	if err := s.joinIDs(); err != nil {
		return err
	}
	_ = s.ids.close() // files without names
	s.ends, s.trails = make([]End, len(s.names)), make([]trail, len(s.names))
	for i, name := range s.names {
		s.ends[i].Stream = name
	}
	return newJoiner(s).join()
}

// joinIDs marks copies, and the receipts whose id is another's, too.
func (s *Survey) joinIDs() error {
	var taking rules.Taking
	var content idRecord // the first receipt of the content before
	for b, err := range s.ids.sorted() {
		if err != nil {
			return err
		}

		r := parseIDRecord(b)
		switch m, related := taking.Next(rules.ID(r.id), r.hash, r.place()); m {
		case rules.MarkCopy:
			s.repeat(r, content)
			continue
		case rules.MarkDuplicate:
			s.Marks[r.number] = m
			s.about(r.number, address{related.Source, related.Index})
		}
		content = r
	}

	// A copy is not counted when one that counts has the same outcome.
	s.counted = make(map[int][]Outcome, len(s.originals))
	for _, original := range s.originals {
		s.counted[original] = nil
	}
	return nil
}

// repeat marks a receipt as a copy of another one.
func (s *Survey) repeat(r, original idRecord) {
	s.Marks[r.number] = rules.MarkCopy
	if r.source != original.source {
		s.spread[original.number] = true
	}
	s.about(r.number, original.address)
	s.originals[r.number] = original.number
}

// Found is what was found of a receipt, or of the one that it repeats.
func (s *Survey) Found(number int) rules.Mark { return s.Marks[s.First(number)] }

// First is the number of the receipt that one repeats, or its own.
func (s *Survey) First(number int) int {
	if original, is := s.originals[number]; is {
		return original
	}
	return number
}

// byName is the streams in the order of their names.
func (s *Survey) byName() []int {
	list := make([]int, len(s.names))
	for i := range list {
		list[i] = i
	}
	slices.SortFunc(list, func(a, b int) int { return s.names[a].Compare(s.names[b]) })
	return list
}

// about remembers which receipt a mark is about, for the first that will be
// printed.
func (s *Survey) about(number int, a address) {
	if len(s.others) < maxDamaged {
		s.others[number] = a
	}
}

// Place judges an item in the second reading.
func (s *Survey) Place(it *Item) error {
	// What the first reading found holds for the same documents only.
	number := s.number
	if s.number++; number >= len(s.Marks) {
		return ErrChanged
	}
	if it.Facts.Placed != (s.Marks[number] != rules.MarkUnplaced) {
		return ErrChanged
	}
	if !it.Facts.Placed {
		return nil
	}

	s.follow(number, it)
	m, about := s.Marks[number], number
	if it.Again = m == rules.MarkCopy; it.Again {
		about = s.originals[number]
		it.Report.Warnings = append(it.Report.Warnings, receipt.Note{Code: receipt.CodeIdenticalCopy, Detail: s.at(s.others[number]).String() + " is the same receipt"})
	}

	// What counts for itself bears what is found of its content.
	if list, repeated := s.counted[about]; repeated {
		if it.Copy = it.Again && slices.Contains(list, it.Alone); !it.Copy {
			m = s.Marks[about]
			s.counted[about] = it.Alone.repeated(list)
		}
	}

	other := s.others[about]
	it.Verifier.Link(&it.Report, s.check(it, m, other))
	it.foreign = m == rules.MarkForeign
	return nil
}

// follow compares the order of one source with its links: a receipt whose
// predecessor is in it stands after that one, and a first receipt after none.
// What several sources hold has no order.
func (s *Survey) follow(number int, it *Item) {
	m, link := s.Marks[number], it.Facts.Link
	if m == rules.MarkUnplaced || m == rules.MarkDamaged || m == rules.MarkCopy || s.spread[number] || !s.ordered(it.Source) {
		return
	}

	stream := s.streams[string(it.Facts.Key)]
	t := &s.trails[stream]
	if !t.begun || t.source != it.Source {
		*t = trail{begun: true}
	} else if !t.broken && (m == rules.MarkFollows && link.Previous != t.hash || m == rules.MarkLinked && link.First) {
		s.Marks[number] = rules.MarkBetween
		s.about(number, t.address)
		s.ends[stream].Failures.Count++
	}

	t.broken = t.broken || s.Marks[number].Failed()
	t.address, t.hash = address{it.Source, it.Index}, link.Hash
}

// check says what a mark means of a receipt.
func (s *Survey) check(it *Item, m rules.Mark, other address) receipt.Check {
	related := receipt.Place{}
	if other.index > 0 {
		related = s.at(other)
	}
	var previous canon.Digest
	if m == rules.MarkForeign {
		previous = s.Previous(s.StreamOf(it))
	}
	return CheckOf(m, it, s.Partial, related, previous)
}

// CheckOf says what a mark means of a receipt; previous is what was given as its
// predecessor.
func CheckOf(m rules.Mark, it *Item, partial bool, related receipt.Place, previous canon.Digest) receipt.Check {
	switch {
	case m == rules.MarkCopy:
		return receipt.Check{Status: receipt.StatusNotApplicable}
	case m.Code() == "":
		return receipt.Check{Status: receipt.StatusPassed}
	case m == rules.MarkOpen && partial: // nothing shows what precedes it
		return unchecked(receipt.CauseSelection, receipt.Place{})
	case !m.Failed():
		return unchecked(m.Cause(), receipt.Place{})
	}

	c := receipt.Check{Status: receipt.StatusFailed, Code: m.Code(), Pointer: previousPointer, Stated: Stated(it.Facts.Link), Cause: m.Cause(), Related: related}
	switch m {
	case rules.MarkForeign:
		c.Computed = previous.String()
	case rules.MarkDuplicate:
		c.Pointer, c.Stated = "/receipt_id", it.Facts.Computed.String()
	}
	return c
}

// at is the place of a receipt as reports name it.
func (s *Survey) at(a address) receipt.Place {
	p := receipt.Place{Source: s.sources[a.source]}
	if s.docs[a.source] > 1 {
		p.Index = a.index
	}
	return p
}

// StreamOf is the stream of a receipt that was recorded.
func (s *Survey) StreamOf(it *Item) chain.Stream { return s.names[s.streams[string(it.Facts.Key)]] }

// Ends are where the streams end. One of damaged receipts alone is none.
func (s *Survey) Ends() (list []End) {
	for i, e := range s.ends {
		if s.intact[i] {
			list = append(list, e)
		}
	}
	return list
}

// Apart reports whether parts that are selections do not join.
func (s *Survey) Apart() bool { return len(s.unknown) > 0 }
