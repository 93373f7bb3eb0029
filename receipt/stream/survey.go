package stream

import (
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/vocab"
	"github.com/receiptkit/receiptkit/receipt/stream/join"
)

// A survey knows how the receipts of several sources join by their links. It is
// made by a first reading, which looks at nothing but ids and links; the second
// one verifies, and asks it about each receipt. Of a receipt it keeps one byte,
// and three records that sorters may put on disk.
type survey struct {
	options *Options
	demands demands
	sources []Source

	marks  []mark          // of each item, in the order of reading
	others map[int]address // the receipt that the mark of an item is about

	originals map[int]int       // of each copy: the number of the receipt that it repeats
	spread    map[int]bool      // of these, the ones that other sources repeat: no order is theirs
	counted   map[int][]outcome // of these receipts: what those that count are on their own, in the second reading
	streams   map[string]int
	names     []chain.Stream
	trails    []trail     // by stream, in the second reading
	intact    []bool      // by stream: a receipt of it fits its own hash
	ends      []streamEnd // by stream
	gaps      int         // items that state no place
	docs      []int       // of each source

	ids, hashes, links *sorter // records
	scratch            []byte  // a record on its way to them

	number int // of the next item in the second reading

	selections []selection  // by stream, in a merge; nil: as the options say
	unknown    map[int]bool // streams of parts, some of them selections, that do not join
	mixed      []bool       // by source, in a merge: it is in no order; nil: as the options say
}

// A selection says of how much of a stream it was said that it is a selection.
type selection uint8

const (
	selectedNone selection = iota
	selectedSome           // of some parts
	selectedAll
)

func (s *survey) selected(stream int) selection {
	switch {
	case s.selections != nil:
		return s.selections[stream]
	case s.options.Partial:
		return selectedAll
	}
	return selectedNone
}

// ordered reports whether a source is in the order of its chains.
func (s *survey) ordered(source int) bool {
	if s.mixed != nil {
		return !s.mixed[source]
	}
	return !s.options.Unordered
}

// A trail is the last receipt of a stream in the source that is being read again.
type trail struct {
	address
	hash   canon.Digest
	begun  bool
	broken bool // something was out of place before it: one finding, not two
}

func newSurvey(o *Options, sources []Source) *survey {
	s := &survey{options: o, demands: o.demands(), sources: sources, others: map[int]address{}, unknown: map[int]bool{}, originals: map[int]int{}, spread: map[int]bool{}, streams: map[string]int{},
		docs: make([]int, len(sources))}
	dir, most := o.TempDir, o.mostIndexed()
	s.ids, s.hashes, s.links = newSorter(idRecordWidth, most, dir), newSorter(hashRecordWidth, most, dir), newSorter(linkRecordWidth, most, dir)
	return s
}

func (s *survey) close() {
	for _, sorter := range []*sorter{s.ids, s.hashes, s.links} {
		_ = sorter.close() // files without names
	}
}

// record keeps the facts of one item.
func (s *survey) record(it *item) error {
	if it.end {
		s.docs[it.source] = it.docs
		return nil
	}

	number := len(s.marks)
	f := &it.facts
	if !f.placed {
		s.marks = append(s.marks, join.MarkUnplaced)
		if it.other == "" {
			s.gaps++
		}
		return nil
	}

	stream, known := s.streams[string(f.key)]
	if !known {
		stream = len(s.names)
		s.streams[string(f.key)] = stream
		s.names, s.intact = append(s.names, f.key.stream()), append(s.intact, false)
	}

	at, issued := address{it.source, it.Index}, f.issued.UnixMilli()
	hash := hashRecord{digest: f.link.Hash, stream: stream, number: number, address: at, damaged: !f.holds, issued: issued}
	s.addHash(&hash)
	if !f.holds {
		// A damaged receipt is known by both hashes: its successor may name either.
		s.marks = append(s.marks, join.MarkDamaged)
		hash.digest, hash.content = f.computed, true
		s.addHash(&hash)
	} else {
		if !s.intact[stream] && !s.demands.only.isZero() && slices.Contains(s.intact, true) {
			return ErrStreams
		}
		s.intact[stream] = true
		s.marks = append(s.marks, join.MarkLinked)
		id := idRecord{f.id, issued, f.computed, number, at}
		s.scratch = id.append(s.scratch[:0])
		s.ids.add(s.scratch)
	}

	link := linkRecord{f.link.First, f.link.Previous, stream, issued, f.link.Hash, number, at, !f.holds}
	s.scratch = link.append(s.scratch[:0])
	s.links.add(s.scratch)
	return nil
}

func (s *survey) addHash(r *hashRecord) {
	s.scratch = r.append(s.scratch[:0])
	s.hashes.add(s.scratch)
}

// join finds copies and duplicate ids, and then the predecessor of each receipt.
func (s *survey) join() error {
	if err := s.joinIDs(); err != nil {
		return err
	}
	_ = s.ids.close() // files without names
	s.ends, s.trails = make([]streamEnd, len(s.names)), make([]trail, len(s.names))
	for i, name := range s.names {
		s.ends[i].Stream = name
	}
	return newJoiner(s).join()
}

// joinIDs marks copies, and the receipts whose id is another's, too.
func (s *survey) joinIDs() error {
	var taking join.Taking
	var content idRecord // the first receipt of the content before
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
			s.marks[r.number] = m
			s.about(r.number, address{related.Source, related.Index})
		}
		content = r
	}

	// A copy is not counted when one that counts has the same outcome.
	s.counted = make(map[int][]outcome, len(s.originals))
	for _, original := range s.originals {
		s.counted[original] = nil
	}
	return nil
}

// repeat marks a receipt as a copy of another one.
func (s *survey) repeat(r, original idRecord) {
	s.marks[r.number] = join.MarkCopy
	if r.source != original.source {
		s.spread[original.number] = true
	}
	s.about(r.number, original.address)
	s.originals[r.number] = original.number
}

// found is what was found of a receipt, or of the one that it repeats.
func (s *survey) found(number int) mark { return s.marks[s.first(number)] }

// first is the number of the receipt that one repeats, or its own.
func (s *survey) first(number int) int {
	if original, is := s.originals[number]; is {
		return original
	}
	return number
}

// byName is the streams in the order of their names.
func (s *survey) byName() []int {
	list := make([]int, len(s.names))
	for i := range list {
		list[i] = i
	}
	slices.SortFunc(list, func(a, b int) int { return s.names[a].Compare(s.names[b]) })
	return list
}

// about remembers which receipt a mark is about, for the first that will be
// printed.
func (s *survey) about(number int, a address) {
	if len(s.others) < maxDamaged {
		s.others[number] = a
	}
}

// place judges an item in the second reading.
func (s *survey) place(it *item) error {
	// What the first reading found holds for the same documents only.
	number := s.number
	if s.number++; number >= len(s.marks) {
		return ErrChanged
	}
	if it.facts.placed != (s.marks[number] != join.MarkUnplaced) {
		return ErrChanged
	}
	if !it.facts.placed {
		return nil
	}

	s.follow(number, it)
	m, about := s.marks[number], number
	if it.again = m == join.MarkCopy; it.again {
		about = s.originals[number]
		it.rep.Warnings = append(it.rep.Warnings, receipt.Note{Code: vocab.CodeIdenticalCopy, Detail: s.at(s.others[number]).String() + " is the same receipt"})
	}

	// What counts for itself bears what is found of its content.
	if list, repeated := s.counted[about]; repeated {
		if it.copy = it.again && slices.Contains(list, it.alone); !it.copy {
			m = s.marks[about]
			s.counted[about] = it.alone.repeated(list)
		}
	}

	other := s.others[about]
	it.v.Link(&it.rep, s.check(it, m, other))
	it.foreign = m == join.MarkForeign
	return nil
}

// follow compares the order of one source with its links: a receipt whose
// predecessor is in it stands after that one, and a first receipt after none.
// What several sources hold has no order.
func (s *survey) follow(number int, it *item) {
	m, link := s.marks[number], it.facts.link
	if m == join.MarkUnplaced || m == join.MarkDamaged || m == join.MarkCopy || s.spread[number] || !s.ordered(it.source) {
		return
	}

	stream := s.streams[string(it.facts.key)]
	t := &s.trails[stream]
	if !t.begun || t.source != it.source {
		*t = trail{begun: true}
	} else if !t.broken && (m == join.MarkFollows && link.Previous != t.hash || m == join.MarkLinked && link.First) {
		s.marks[number] = join.MarkBetween
		s.about(number, t.address)
		s.ends[stream].Failures.Count++
	}

	t.broken = t.broken || s.marks[number].Failed()
	t.address, t.hash = address{it.source, it.Index}, link.Hash
}

// check says what a mark means of a receipt.
func (s *survey) check(it *item, m mark, other address) receipt.Check {
	related := receipt.Place{}
	if other.index > 0 {
		related = s.at(other)
	}
	var previous canon.Digest
	if m == join.MarkForeign {
		previous = s.demands.previous(s.names[s.streams[string(it.facts.key)]])
	}
	return checkOf(m, it, s.options.Partial, related, previous)
}

// checkOf says what a mark means of a receipt; previous is what was given as its
// predecessor.
func checkOf(m mark, it *item, partial bool, related receipt.Place, previous canon.Digest) receipt.Check {
	switch {
	case m == join.MarkCopy:
		return receipt.Check{Status: receipt.StatusNotApplicable}
	case m.Code() == "":
		return receipt.Check{Status: receipt.StatusPassed}
	case m == join.MarkOpen && partial: // nothing shows what precedes it
		return unchecked(vocab.CauseSelection, receipt.Place{})
	case !m.Failed():
		return unchecked(m.Cause(), receipt.Place{})
	}

	c := receipt.Check{Status: receipt.StatusFailed, Code: m.Code(), Pointer: previousPointer, Stated: stated(it.facts.link), Cause: m.Cause(), Related: related}
	switch m {
	case join.MarkForeign:
		c.Computed = previous.String()
	case join.MarkDuplicate:
		c.Pointer, c.Stated = "/receipt_id", it.facts.computed.String()
	}
	return c
}

// at is the place of a receipt as reports name it.
func (s *survey) at(a address) receipt.Place {
	p := receipt.Place{Source: s.sources[a.source].Name}
	if s.docs[a.source] > 1 {
		p.Index = a.index
	}
	return p
}

// conclude adds the streams to the summary.
func (s *survey) conclude(sum *Summary) error {
	for i := range s.ends {
		if e := s.ends[i]; s.intact[i] {
			sum.Streams = append(sum.Streams, e.Segment)
			s.demands.compare(sum, e)
		}
	}
	sum.Streams = chain.Join(sum.Streams)
	s.demands.conclude(sum)
	return nil
}
