package stream

import (
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/vocab"
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

	originals map[int]int             // of each copy: the number of the receipt that it repeats
	spread    map[int]bool            // of these, the ones that other sources repeat: no order is theirs
	verdicts  map[int]receipt.Verdict // of these receipts, in the second reading
	streams   map[string]int
	names     []chain.Stream
	trails    []trail     // by stream, in the second reading
	intact    []bool      // by stream: a receipt of it fits its own hash
	ends      []streamEnd // by stream
	damaged   map[canon.Digest]bool
	gaps      int   // items that state no place
	docs      []int // of each source

	ids, hashes, links *sorter // records
	scratch            []byte  // a record on its way to them

	number int // of the next item in the second reading

	selections []selection  // by stream, in a merge; nil: as the options say
	unknown    map[int]bool // streams of parts, some of them selections, that do not join
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

// A trail is the last receipt of a stream in the source that is being read again.
type trail struct {
	address
	hash   canon.Digest
	begun  bool
	broken bool // something was out of place before it: one finding, not two
}

func newSurvey(o *Options, sources []Source) *survey {
	s := &survey{options: o, demands: o.demands(), sources: sources, others: map[int]address{}, unknown: map[int]bool{}, originals: map[int]int{}, spread: map[int]bool{}, streams: map[string]int{},
		damaged: map[canon.Digest]bool{}, docs: make([]int, len(sources))}
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
		s.marks = append(s.marks, markUnplaced)
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

	// A damaged receipt is known by both hashes: its successor may name either.
	at, issued := address{it.source, it.index}, f.issued.UnixMilli()
	if !f.holds {
		s.marks = append(s.marks, markDamaged)
		if len(s.damaged) < maxDamaged {
			s.damaged[f.link.Hash], s.damaged[f.computed] = true, true
		}
	} else {
		if !s.intact[stream] && !s.demands.only.isZero() && slices.Contains(s.intact, true) {
			return ErrStreams
		}
		s.intact[stream] = true
		s.marks = append(s.marks, markLinked)
		id := idRecord{f.id, number, f.computed, at}
		s.scratch = id.append(s.scratch[:0])
		s.ids.add(s.scratch)
	}

	hash := hashRecord{position{stream, f.link.Hash}, number, at, issued}
	s.scratch = hash.append(s.scratch[:0])
	s.hashes.add(s.scratch)

	link := linkRecord{f.link.First, position{stream, f.link.Previous}, number, at, !f.holds, issued}
	s.scratch = link.append(s.scratch[:0])
	s.links.add(s.scratch)
	return nil
}

// join finds copies and duplicate ids, and then the predecessor of each receipt.
func (s *survey) join() error {
	if err := s.joinIDs(); err != nil {
		return err
	}
	s.ends, s.trails = make([]streamEnd, len(s.names)), make([]trail, len(s.names))
	for i, name := range s.names {
		s.ends[i].Stream = name
	}
	return newJoiner(s).join()
}

// joinIDs marks the receipts whose id was there before.
func (s *survey) joinIDs() error {
	var first idRecord
	var others map[canon.Digest]idRecord // further contents under its id, of each the first
	some := false
	for b, err := range s.ids.sorted() {
		if err != nil {
			return err
		}
		r := parseIDRecord(b)
		if !some || r.id != first.id {
			first, others, some = r, nil, true
			continue
		}

		// One id twice: a copy when the content was there, else a duplicate. Which content
		// came first does not make a copy of another one.
		original, there := others[r.hash]
		switch {
		case r.hash == first.hash:
			s.repeat(r, first)
		case there:
			s.repeat(r, original)
		default:
			s.marks[r.number] = markDuplicate
			s.about(r.number, first.address)
			if others == nil {
				others = map[canon.Digest]idRecord{}
			}
			if len(others) < maxDamaged {
				others[r.hash] = r
			}
		}
	}

	// A copy is not counted when its original has the same verdict.
	s.verdicts = make(map[int]receipt.Verdict, len(s.originals))
	for _, original := range s.originals {
		s.verdicts[original] = receipt.Undecided
	}
	return nil
}

// repeat marks a receipt as a copy of another one.
func (s *survey) repeat(r, original idRecord) {
	s.marks[r.number] = markCopy
	if r.source != original.source {
		s.spread[original.number] = true
	}
	s.about(r.number, original.address)
	s.originals[r.number] = original.number
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
	if it.facts.placed != (s.marks[number] != markUnplaced) {
		return ErrChanged
	}
	if !it.facts.placed {
		return nil
	}

	s.follow(number, it)
	check := s.check(it, s.marks[number], s.others[number])
	it.v.Link(&it.rep, check)
	it.foreign = s.marks[number] == markForeign
	if it.again = s.marks[number] == markCopy; it.again {
		it.rep.Warnings = append(it.rep.Warnings, receipt.Note{Code: vocab.CodeIdenticalCopy, Detail: s.at(s.others[number]).String() + " is the same receipt"})
		it.copy = it.rep.Verdict == s.verdicts[s.originals[number]]
	}

	if _, repeated := s.verdicts[number]; repeated {
		s.verdicts[number] = it.rep.Verdict
	}
	return nil
}

// follow compares the order of one source with its links: a receipt whose
// predecessor is in it stands after that one, and a first receipt after none.
// What several sources hold has no order.
func (s *survey) follow(number int, it *item) {
	m, link := s.marks[number], it.facts.link
	if m == markUnplaced || m == markDamaged || m == markCopy || s.spread[number] {
		return
	}

	stream := s.streams[string(it.facts.key)]
	t := &s.trails[stream]
	if !t.begun || t.source != it.source {
		*t = trail{begun: true}
	} else if !t.broken && (m == markFollows && link.Previous != t.hash || m == markLinked && link.First) {
		s.marks[number] = markBetween
		s.about(number, t.address)
		s.ends[stream].Failures.Count++
	}

	t.broken = t.broken || s.marks[number].failed()
	t.address, t.hash = address{it.source, it.index}, link.Hash
}

// check says what a mark means of a receipt.
func (s *survey) check(it *item, m mark, other address) receipt.Check {
	failed := func(code receipt.Code, cause receipt.Cause) receipt.Check {
		c := receipt.Check{Status: receipt.StatusFailed, Code: code, Pointer: previousPointer, Stated: stated(it.facts.link), Cause: cause}
		if other.index > 0 {
			c.Related = s.at(other)
		}
		return c
	}

	switch m {
	case markLinked, markFollows:
		return receipt.Check{Status: receipt.StatusPassed}
	case markCopy:
		return receipt.Check{Status: receipt.StatusNotApplicable}
	case markDamaged:
		return unchecked(vocab.CauseOwnHash, receipt.Place{})
	case markGap:
		return unchecked(vocab.CauseUnreadable, receipt.Place{})
	case markMissing:
		return failed(receipt.CodeChainBreak, vocab.CausePredecessorMissing)
	case markFork:
		return failed(receipt.CodeChainFork, vocab.CausePredecessorShared)
	case markLate:
		return failed(receipt.CodeChainBreak, vocab.CausePredecessorLater)
	case markBetween:
		return failed(receipt.CodeChainBreak, vocab.CauseComesEarlier)
	case markElsewhere:
		return failed(receipt.CodeChainBreak, vocab.CausePredecessorElsewhere)
	case markSecond:
		return failed(receipt.CodeChainBreak, vocab.CauseSecondFirst)
	case markForeign:
		c := failed(receipt.CodeChainBreak, vocab.CausePredecessorNotGiven)
		c.Computed = s.demands.previous(s.names[s.streams[string(it.facts.key)]]).String()
		return c
	case markDuplicate:
		c := failed(receipt.CodeDuplicateID, vocab.CauseIDTaken)
		c.Pointer, c.Stated = "/receipt_id", it.facts.computed.String()
		return c
	}

	// Nothing shows what precedes it.
	if s.options.Partial {
		return unchecked(vocab.CauseSelection, receipt.Place{})
	}
	return unchecked(vocab.CausePredecessorAbsent, receipt.Place{})
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
