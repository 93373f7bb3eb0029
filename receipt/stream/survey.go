package stream

import (
	"encoding/binary"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A survey knows how the receipts of several sources join by their links. It is
// made by a first reading, which looks at nothing but ids and links; the second
// one verifies, and asks it about each receipt. Of a receipt it keeps one byte,
// and three entries that sorters may put on disk.
type survey struct {
	options *Options
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

	ids, hashes, links *sorter

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

// A mark says how a receipt stands to the others.
type mark uint8

const (
	markUnplaced  mark = iota
	markLinked         // its predecessor is there, or it is the first of its stream
	markFollows        // its predecessor is there, before it in the same source
	markOpen           // its predecessor is not in the input
	markMissing        // neither, but others of its stream precede it
	markGap            // the same, and something unreadable may be it
	markFork           // another receipt names the same predecessor
	markLate           // its predecessor comes after it in the same source
	markBetween        // another receipt stands between it and its predecessor in the same source
	markElsewhere      // the one that it names is a receipt of another stream
	markSecond         // another receipt too states to be the first
	markForeign        // it does not name the predecessor that was given
	markDamaged        // it does not fit its own hash
	markCopy           // the same receipt was there before
	markDuplicate      // its id was there before, with another content
)

// failed reports whether a mark refutes.
func (m mark) failed() bool {
	switch m {
	case markMissing, markFork, markLate, markBetween, markElsewhere, markSecond, markForeign, markDuplicate:
		return true
	}
	return false
}

// An address is the place of a receipt in the input.
type address struct{ source, index int }

// A trail is the last receipt of a stream in the source that is being read again.
type trail struct {
	address
	hash   canon.Digest
	begun  bool
	broken bool // something was out of place before it: one finding, not two
}

// Entries of the sorters: numbers big-endian, so that bytes sort as they do.
const (
	idWidth   = 16 + 8 + 32 + 4 + 4            // id, number, hash, source, index
	hashWidth = 4 + 32 + 8 + 4 + 4 + 8         // stream, hash, number, source, index, time of issue
	linkWidth = 4 + 1 + 32 + 8 + 4 + 4 + 1 + 8 // stream, whether it names one, previous, number, source, index, damaged, time of issue
)

func newSurvey(o *Options, sources []Source) *survey {
	s := &survey{options: o, sources: sources, others: map[int]address{}, unknown: map[int]bool{}, originals: map[int]int{}, spread: map[int]bool{}, streams: map[string]int{},
		damaged: map[canon.Digest]bool{}, docs: make([]int, len(sources))}
	dir, most := o.TempDir, o.mostIndexed()
	s.ids, s.hashes, s.links = newSorter(idWidth, most, dir), newSorter(hashWidth, most, dir), newSorter(linkWidth, most, dir)
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

	stream, known := s.streams[string(f.stream)]
	if !known {
		stream = len(s.names)
		s.streams[string(f.stream)] = stream
		s.names, s.intact = append(s.names, parseStreamKey(f.stream)), append(s.intact, false)
	}

	// A damaged receipt is known by both hashes: its successor may name either.
	if !f.holds {
		s.marks = append(s.marks, markDamaged)
		if len(s.damaged) < maxDamaged {
			s.damaged[f.link.Hash], s.damaged[f.computed] = true, true
		}
	} else {
		if !s.intact[stream] && !s.options.Only.isZero() && slices.Contains(s.intact, true) {
			return ErrStreams
		}
		s.intact[stream] = true
		s.marks = append(s.marks, markLinked)
		e := append(make([]byte, 0, idWidth), f.id[:]...)
		e = append(binary.BigEndian.AppendUint64(e, uint64(number)), f.computed[:]...)
		s.ids.add(appendAddress(e, it))
	}

	// Hashes as they are stated: an altered receipt keeps its place.
	e := binary.BigEndian.AppendUint32(make([]byte, 0, linkWidth), uint32(stream))
	e = append(e, f.link.Hash[:]...)
	e = appendAddress(binary.BigEndian.AppendUint64(e, uint64(number)), it)
	s.hashes.add(binary.BigEndian.AppendUint64(e, uint64(f.issued.UnixMilli())))

	// The same receipt by the predecessor that it names.
	e = append(e[:4], flag(!f.link.First))
	e = append(e, f.link.Previous[:]...)
	e = appendAddress(binary.BigEndian.AppendUint64(e, uint64(number)), it)
	s.links.add(binary.BigEndian.AppendUint64(append(e, flag(!f.holds)), uint64(f.issued.UnixMilli())))
	return nil
}

func appendAddress(e []byte, it *item) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(e, uint32(it.source)), uint32(it.index))
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
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
		it.rep.Warn(receipt.CodeIdenticalCopy, "", s.at(s.others[number]).String()+" is the same receipt")
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

	stream := s.streams[string(it.facts.stream)]
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
		return unchecked(receipt.CauseOwnHash, receipt.Place{})
	case markGap:
		return unchecked(receipt.CauseUnreadable, receipt.Place{})
	case markMissing:
		return failed(receipt.CodeChainBreak, receipt.CausePredecessorMissing)
	case markFork:
		return failed(receipt.CodeChainFork, receipt.CausePredecessorShared)
	case markLate:
		return failed(receipt.CodeChainBreak, receipt.CausePredecessorLater)
	case markBetween:
		return failed(receipt.CodeChainBreak, receipt.CauseComesEarlier)
	case markElsewhere:
		return failed(receipt.CodeChainBreak, receipt.CausePredecessorElsewhere)
	case markSecond:
		return failed(receipt.CodeChainBreak, receipt.CauseSecondFirst)
	case markForeign:
		c := failed(receipt.CodeChainBreak, receipt.CausePredecessorNotGiven)
		c.Computed = s.options.after(s.names[s.streams[string(it.facts.stream)]]).String()
		return c
	case markDuplicate:
		c := failed(receipt.CodeDuplicateID, receipt.CauseIDTaken)
		c.Pointer, c.Stated = "/receipt_id", it.facts.computed.String()
		return c
	}

	// Nothing shows what precedes it.
	if s.options.Partial {
		return unchecked(receipt.CauseSelection, receipt.Place{})
	}
	return unchecked(receipt.CausePredecessorAbsent, receipt.Place{})
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
			s.options.expect(sum, e, s.options.wanted(e.Stream))
		}
	}
	sum.Streams = chain.Join(sum.Streams)
	s.options.concludeHeads(sum)
	return nil
}
