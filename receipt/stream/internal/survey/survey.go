package survey

import (
	"errors"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Survey joins the receipts of several sources by their links. The first pass records only IDs
// and links. The second pass verifies the receipts, and the survey places each of them. For each
// receipt, the survey stores one byte, and three records that sorters may put on disk.
type Survey struct {
	Terms
	sources []string // names of the sources

	Marks  []join.Mark     // marks of the items, in reading order
	others map[int]address // by item: the receipt to which its mark refers

	originals map[int]int       // by copy: the number of the receipt that it repeats
	spread    map[int]bool      // originals with copies in other sources, whose order is undefined
	counted   map[int][]Outcome // by original: the outcomes of the copies that count, in the second pass
	streams   map[string]int
	names     []chain.Stream
	trails    []trail // by stream, in the second pass
	intact    []bool  // by stream: a receipt matches its own hash
	ends      []End   // by stream
	gaps      int     // number of items that state no place
	listed    []bool  // by source: its documents have indexes

	ids, hashes, links *sorter // sort the records
	scratch            []byte  // reused for records

	number int // of the next item in the second pass

	selections []selection  // by stream, in a merge; if nil, see Terms
	unknown    map[int]bool // streams with selections whose parts do not join
	mixed      []bool       // by source, in a merge: whether it is unordered; if nil, see Terms
}

// ErrStreams indicates that an input has several streams although only one is allowed.
var ErrStreams = errors.New("stream: input contains several streams, so a single hash or count does not apply; use an earlier report instead")

// ErrManyStreams indicates that an input has more streams than allowed.
var ErrManyStreams = errors.New("stream: input contains more streams, or longer stream names, than allowed")

// ErrChanged indicates that a source had different content when it was read again.
var ErrChanged = errors.New("stream: input changed while it was read")

// A selection states how much of a stream was stated to be a selection.
type selection uint8

const (
	selectedNone selection = iota
	selectedSome           // some parts
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

// A trail is the last receipt of a stream in the current source, in the second pass.
type trail struct {
	address
	hash   canon.Digest
	begun  bool
	broken bool // an earlier receipt was out of place: report one finding, not two
}

// New returns a survey.
func New(t Terms) *Survey {
	s := &Survey{Terms: t, others: map[int]address{}, unknown: map[int]bool{}, originals: map[int]int{}, spread: map[int]bool{}, streams: map[string]int{}}
	dir, most := t.TempDir, t.Indexed
	s.ids, s.hashes, s.links = newSorter(idRecordWidth, most, dir), newSorter(hashRecordWidth, most, dir), newSorter(linkRecordWidth, most, dir)
	return s
}

// Close releases the memory and the files of the sorters.
func (s *Survey) Close() {
	for _, sorter := range []*sorter{s.ids, s.hashes, s.links} {
		_ = sorter.close() // the files have no names
	}
}

// EndSource records the name of the source that has ended, and whether its documents are listed by
// index.
func (s *Survey) EndSource(name string, listed bool) {
	s.sources, s.listed = append(s.sources, name), append(s.listed, listed)
}

// Record records the facts of one item.
func (s *Survey) Record(it *Item) error {
	number := len(s.Marks)
	f := &it.Facts
	if !f.Placed {
		s.Marks = append(s.Marks, join.MarkUnplaced)
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
		// A damaged receipt is recorded with both hashes, because its successor may name either
		// hash.
		s.Marks = append(s.Marks, join.MarkDamaged)
		hash.digest, hash.content = f.Computed, true
		s.addHash(&hash)
	} else {
		if !s.intact[stream] && s.One && slices.Contains(s.intact, true) {
			return ErrStreams
		}
		s.intact[stream] = true
		s.Marks = append(s.Marks, join.MarkLinked)
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

// Join finds copies and duplicate IDs, and then the predecessor of each receipt.
func (s *Survey) Join() error {
	if err := s.joinIDs(); err != nil {
		return err
	}
	_ = s.ids.close() // the files have no names
	s.ends, s.trails = make([]End, len(s.names)), make([]trail, len(s.names))
	for i, name := range s.names {
		s.ends[i].Stream = name
	}
	return newJoiner(s).join()
}

// joinIDs marks copies, and receipts that use the ID of another receipt.
func (s *Survey) joinIDs() error {
	var taking join.Taking
	var content idRecord // the first receipt with the previous content
	for b, err := range s.ids.sorted() {
		if err != nil {
			return err
		}

		r := parseIDRecord(b)
		switch m, related := taking.Next(join.ID(r.id), r.hash, r.place()); m {
		case join.MarkCopy:
			s.repeat(r, content)
			continue
		case join.MarkDuplicate:
			s.Marks[r.number] = m
			s.about(r.number, address{related.Source, related.Index})
		}
		content = r
	}

	// A copy does not count if another copy that counts has the same outcome.
	s.counted = make(map[int][]Outcome, len(s.originals))
	for _, original := range s.originals {
		s.counted[original] = nil
	}
	return nil
}

// repeat marks a receipt as a copy of another one.
func (s *Survey) repeat(r, original idRecord) {
	s.Marks[r.number] = join.MarkCopy
	if r.source != original.source {
		s.spread[original.number] = true
	}
	s.about(r.number, original.address)
	s.originals[r.number] = original.number
}

// Found returns a receipt's mark or, for a copy, the mark of its original.
func (s *Survey) Found(number int) join.Mark { return s.Marks[s.First(number)] }

// First returns the number of the original of a copy, or the number itself.
func (s *Survey) First(number int) int {
	if original, is := s.originals[number]; is {
		return original
	}
	return number
}

// byName returns the numbers of the streams, sorted by name.
func (s *Survey) byName() []int {
	list := make([]int, len(s.names))
	for i := range list {
		list[i] = i
	}
	slices.SortFunc(list, func(a, b int) int { return s.names[a].Compare(s.names[b]) })
	return list
}

// about records the receipt to which a mark refers. Only the first marks are kept, because only
// those are printed.
func (s *Survey) about(number int, a address) {
	if len(s.others) < maxDamaged {
		s.others[number] = a
	}
}

// Place judges an item in the second pass.
func (s *Survey) Place(it *Item) error {
	// The results of the first pass apply only to the same documents.
	number := s.number
	if s.number++; number >= len(s.Marks) {
		return ErrChanged
	}
	if it.Facts.Placed != (s.Marks[number] != join.MarkUnplaced) {
		return ErrChanged
	}
	if !it.Facts.Placed {
		return nil
	}

	s.follow(number, it)

	// A copy is judged by its original's results.
	m, about := s.Marks[number], number
	if it.Again = m == join.MarkCopy; it.Again {
		about = s.originals[number]
		it.Report.Warnings = append(it.Report.Warnings, receipt.Note{Code: receipt.CodeIdenticalCopy, Detail: s.at(s.others[number]).String() + " is the same receipt"})
	}

	// Results for the content apply to each copy that counts.
	if list, repeated := s.counted[about]; repeated {
		if it.Copy = it.Again && slices.Contains(list, it.Alone); !it.Copy {
			m = s.Marks[about]
			s.counted[about] = it.Alone.repeated(list)
		}
	}

	other := s.others[about]
	it.Link(s.check(it, m, other))
	it.foreign = m == join.MarkForeign
	return nil
}

// follow compares a source's order with its links: a receipt must follow its predecessor if both
// are in the same source, and no receipt may precede a first receipt. Receipts that are in several
// sources have no defined order.
func (s *Survey) follow(number int, it *Item) {
	m, link := s.Marks[number], it.Facts.Link
	if m == join.MarkUnplaced || m == join.MarkDamaged || m == join.MarkCopy || s.spread[number] || !s.ordered(it.Source) {
		return
	}

	// A fault explains later faults in the same source.
	stream := s.streams[string(it.Facts.Key)]
	t := &s.trails[stream]
	if !t.begun || t.source != it.Source {
		*t = trail{begun: true}
	} else if !t.broken && (m == join.MarkFollows && link.Previous != t.hash || m == join.MarkLinked && link.First) {
		s.Marks[number] = join.MarkBetween
		s.about(number, t.address)
		s.ends[stream].Failures++
	}

	t.broken = t.broken || s.Marks[number].Failed()
	t.address, t.hash = address{it.Source, it.Index}, link.Hash
}

// check returns the check for a mark.
func (s *Survey) check(it *Item, m join.Mark, other address) receipt.Check {
	related := receipt.Place{}
	if other.index > 0 {
		related = s.at(other)
	}

	var previous canon.Digest
	if m == join.MarkForeign {
		previous = s.Previous(s.StreamOf(it))
	}
	return CheckOf(m, it, s.Partial, related, previous)
}

// CheckOf returns the check for a mark. previous is the predecessor that was given.
func CheckOf(m join.Mark, it *Item, partial bool, related receipt.Place, previous canon.Digest) receipt.Check {
	switch {
	case m == join.MarkCopy:
		return receipt.Check{Status: receipt.StatusNotApplicable}
	case m.Code() == "":
		return receipt.Check{Status: receipt.StatusPassed}
	case m == join.MarkOpen && partial: // nothing shows which receipt precedes it
		return unchecked(receipt.CauseSelection, receipt.Place{})
	case !m.Failed():
		return unchecked(m.Cause(), receipt.Place{})
	}

	c := receipt.Check{Status: receipt.StatusFailed, Code: m.Code(), Pointer: previousPointer, Stated: Stated(it.Facts.Link), Cause: m.Cause(), Related: related}
	switch m {
	case join.MarkForeign:
		c.Computed = previous.String()
	case join.MarkDuplicate:
		c.Pointer, c.Stated = "/receipt_id", it.Facts.Computed.String()
	}
	return c
}

// at returns a receipt's place in the form that reports use.
func (s *Survey) at(a address) receipt.Place {
	p := receipt.Place{Source: s.sources[a.source]}
	if s.listed[a.source] {
		p.Index = a.index
	}
	return p
}

// StreamOf returns a recorded receipt's stream.
func (s *Survey) StreamOf(it *Item) chain.Stream { return s.names[s.streams[string(it.Facts.Key)]] }

// Ends returns where the streams end. Streams that contain only damaged receipts are omitted.
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
