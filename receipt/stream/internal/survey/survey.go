package survey

import (
	"errors"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Survey joins the receipts of several sources by their links. The first pass only records IDs
// and links. In the second pass, the caller verifies the receipts, and the survey checks the link
// of each receipt. A Survey stores one byte and three records per receipt; sorters may write the
// records to disk.
type Survey struct {
	Terms
	sources []string // names of the sources

	Marks  []join.Mark     // marks of the items, in reading order
	others map[int]address // by receipt number: another receipt to which the mark refers

	originals map[int]int       // by number of a copy: the number of its original
	spread    map[int]bool      // originals that have copies in other sources, so that their order is undefined
	counted   map[int][]Outcome // by number of an original: the outcomes of copies that have been counted, in the second pass
	streams   map[string]int
	names     []chain.Stream
	trails    []trail // by stream number, in the second pass
	intact    []bool  // by stream number: at least one receipt is not damaged
	ends      []End   // by stream
	gaps      int     // number of items without a position in a stream
	listed    []bool  // by source: documents are identified by their indexes

	ids, hashes, links *sorter // sort the records
	scratch            []byte  // reused for records

	number int // number of the next item in the second pass

	selections []selection  // by stream number, in a merge; if nil, Terms applies
	unknown    map[int]bool // streams with selections whose parts cannot be joined
	mixed      []bool       // by source, in a merge: whether the source is unordered; if nil, Terms applies
}

// ErrStreams indicates that an input has several streams although only one stream is allowed.
var ErrStreams = errors.New("stream: input contains several streams, so a single hash or count does not apply; use an earlier report instead")

// ErrManyStreams indicates that an input has more streams than are allowed.
var ErrManyStreams = errors.New("stream: input contains more streams, or longer stream names, than allowed")

// ErrChanged indicates that a source had different content when it was read a second time.
var ErrChanged = errors.New("stream: input changed while it was read")

// A selection specifies how many sources of a stream are partial (see Terms.Partial): none, some,
// or all.
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

// ordered reports whether the receipts of a source are in the order of their chains.
func (s *Survey) ordered(source int) bool {
	if s.mixed != nil {
		return !s.mixed[source]
	}
	return !s.Unordered
}

// A trail is the last receipt of a stream in the current source, during the second pass.
type trail struct {
	address
	hash   canon.Digest
	begun  bool
	broken bool // an earlier receipt was out of order, so later receipts get no further finding
}

// New returns a survey for the given terms.
func New(t Terms) *Survey {
	s := &Survey{Terms: t, others: map[int]address{}, unknown: map[int]bool{}, originals: map[int]int{}, spread: map[int]bool{}, streams: map[string]int{}}
	dir, most := t.TempDir, t.Indexed
	s.ids, s.hashes, s.links = newSorter(idRecordWidth, most, dir), newSorter(hashRecordWidth, most, dir), newSorter(linkRecordWidth, most, dir)
	return s
}

// Close releases the memory and the files of the survey's sorters.
func (s *Survey) Close() {
	for _, sorter := range []*sorter{s.ids, s.hashes, s.links} {
		_ = sorter.close() // errors are ignored because the files have no names
	}
}

// EndSource records the name of the source that has just ended, and whether reports identify its
// documents by their indexes.
func (s *Survey) EndSource(name string, listed bool) {
	s.sources, s.listed = append(s.sources, name), append(s.listed, listed)
}

// Record records the facts about an item in the first pass.
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
		// A damaged receipt is recorded with both of its hashes, because its successor may name
		// either of them.
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

// Join finds copies and duplicate IDs, and then finds the predecessor of each receipt.
func (s *Survey) Join() error {
	if err := s.joinIDs(); err != nil {
		return err
	}
	_ = s.ids.close() // errors are ignored because the files have no names
	s.ends, s.trails = make([]End, len(s.names)), make([]trail, len(s.names))
	for i, name := range s.names {
		s.ends[i].Stream = name
	}
	return newJoiner(s).join()
}

// joinIDs marks copies and receipts that reuse the ID of another receipt.
func (s *Survey) joinIDs() error {
	var taking join.Taking
	var content idRecord // the first receipt with the same content as the previous record
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

	// A copy is not counted if its original, or another copy, has already been counted with the
	// same outcome.
	s.counted = make(map[int][]Outcome, len(s.originals))
	for _, original := range s.originals {
		s.counted[original] = nil
	}
	return nil
}

// repeat marks a receipt as a copy of another receipt.
func (s *Survey) repeat(r, original idRecord) {
	s.Marks[r.number] = join.MarkCopy
	if r.source != original.source {
		s.spread[original.number] = true
	}
	s.about(r.number, original.address)
	s.originals[r.number] = original.number
}

// Found returns the mark of a receipt or, for a copy, the mark of its original.
func (s *Survey) Found(number int) join.Mark { return s.Marks[s.First(number)] }

// First returns the number of the original if a receipt is a copy, and the receipt's own number
// otherwise.
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

// about records the other receipt to which a mark refers. This is recorded only for the first
// marks, because reports contain no more.
func (s *Survey) about(number int, a address) {
	if len(s.others) < maxDamaged {
		s.others[number] = a
	}
}

// Place checks the link of an item in the second pass.
func (s *Survey) Place(it *Item) error {
	// The results of the first pass apply only if both passes read the same documents.
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

	// The results for the original also apply to a copy.
	m, about := s.Marks[number], number
	if it.Again = m == join.MarkCopy; it.Again {
		about = s.originals[number]
		it.Report.Warnings = append(it.Report.Warnings, receipt.Note{Code: receipt.CodeIdenticalCopy, Detail: s.at(s.others[number]).String() + " is the same receipt"})
	}

	// The results for the content apply to every copy that is counted.
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

// follow checks the order of the receipts in a source: if a receipt follows its predecessor in that
// source, no other receipt of the stream may be between them, and no receipt may come before the
// first receipt of its stream. The order of receipts that occur in several sources is undefined.
func (s *Survey) follow(number int, it *Item) {
	m, link := s.Marks[number], it.Facts.Link
	if m == join.MarkUnplaced || m == join.MarkDamaged || m == join.MarkCopy || s.spread[number] || !s.ordered(it.Source) {
		return
	}

	// A receipt that is out of order may explain later faults in the same source.
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

// CheckOf returns the check for a mark. previous is the predecessor that the caller specified.
func CheckOf(m join.Mark, it *Item, partial bool, related receipt.Place, previous canon.Digest) receipt.Check {
	switch {
	case m == join.MarkCopy:
		return receipt.Check{Status: receipt.StatusNotApplicable}
	case m.Code() == "":
		return receipt.Check{Status: receipt.StatusPassed}
	case m == join.MarkOpen && partial: // nothing shows which receipt comes before it
		return unchecked(receipt.CauseSelection, receipt.Place{})
	case !m.Failed():
		return unchecked(m.Cause(), receipt.Place{})
	}

	c := receipt.Check{Status: receipt.StatusFailed, Code: m.Code(), Pointer: previousPointer, Stated: Stated(it.Facts.Link), Cause: m.Cause(), Related: related}
	switch m {
	case join.MarkForeign:
		c.Computed = previous.String()
	case join.MarkDuplicate:
		c.Pointer, c.Stated = "/receipt_id", it.Report.ReceiptID.String()
	}
	return c
}

// at returns the place of a receipt, in the form used in reports.
func (s *Survey) at(a address) receipt.Place {
	p := receipt.Place{Source: s.sources[a.source]}
	if s.listed[a.source] {
		p.Index = a.index
	}
	return p
}

// StreamOf returns the stream of a recorded receipt.
func (s *Survey) StreamOf(it *Item) chain.Stream { return s.names[s.streams[string(it.Facts.Key)]] }

// Ends returns the end of each stream. It omits streams that contain only damaged receipts.
func (s *Survey) Ends() (list []End) {
	for i, e := range s.ends {
		if s.intact[i] {
			list = append(list, e)
		}
	}
	return list
}

// Apart reports whether there are selections whose parts cannot be joined.
func (s *Survey) Apart() bool { return len(s.unknown) > 0 }
