package stream

import (
	"encoding/binary"
	"fmt"
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
	verdicts  map[int]receipt.Verdict // of these receipts, in the second reading
	streams   map[string]int
	names     []chain.Stream
	intact    []bool // by stream: a receipt of it fits its own hash
	ends      []end  // by stream
	damaged   map[canon.Digest]bool
	gaps      int   // items that state no place
	docs      []int // of each source

	ids, hashes, links *sorter

	number int // of the next item in the second reading
}

// A mark says how a receipt stands to the others.
type mark uint8

const (
	markUnplaced  mark = iota
	markLinked         // its predecessor is there, or it is the first of its stream
	markOpen           // its predecessor is not in the input
	markMissing        // neither, but others of its stream precede it
	markGap            // the same, and something unreadable may be it
	markFork           // another receipt names the same predecessor
	markLate           // its predecessor comes behind it in the same source
	markSecond         // another receipt too states to be the first
	markForeign        // it does not name the predecessor that was given
	markDamaged        // it does not fit its own hash
	markCopy           // the same receipt was there before
	markDuplicate      // its id was there before, with another content
)

// An address is the place of a receipt in the input.
type address struct{ source, index int }

// Entries of the sorters: numbers big-endian, so that bytes sort as they do.
const (
	idWidth   = 16 + 8 + 32 + 4 + 4            // id, number, hash, source, index
	hashWidth = 4 + 32 + 8 + 4 + 4 + 8         // stream, hash, number, source, index, time of issue
	linkWidth = 4 + 1 + 32 + 8 + 4 + 4 + 1 + 8 // stream, whether it names one, previous, number, source, index, damaged, time of issue
)

func newSurvey(r *Run) *survey {
	s := &survey{options: &r.options, sources: r.sources, others: map[int]address{}, originals: map[int]int{}, streams: map[string]int{},
		damaged: map[canon.Digest]bool{}, docs: make([]int, len(r.sources))}
	dir, most := r.options.TempDir, r.options.mostIndexed()
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
	e := binary.BigEndian.AppendUint32(make([]byte, 0, linkWidth), uint32(stream))
	e = append(e, f.link.Hash[:]...)
	e = appendAddress(binary.BigEndian.AppendUint64(e, uint64(number)), it)
	s.hashes.add(binary.BigEndian.AppendUint64(e, uint64(f.issued.UnixMilli())))
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
	check := s.check(it, s.marks[number], s.others[number])
	it.v.Link(&it.rep, check)
	if s.marks[number] == markCopy {
		it.rep.Warn(receipt.CodeIdenticalCopy, "", s.address(s.others[number])+" is the same receipt")
		it.copy = it.rep.Verdict == s.verdicts[s.originals[number]]
	}
	if _, repeated := s.verdicts[number]; repeated {
		s.verdicts[number] = it.rep.Verdict
	}
	return nil
}

// check words a mark.
func (s *survey) check(it *item, m mark, other address) receipt.Check {
	link := it.facts.link
	failed := func(code receipt.Code, format string, args ...any) receipt.Check {
		return receipt.Check{Status: receipt.Failed, Code: code, Pointer: previousPointer, Stated: stated(link), Detail: fmt.Sprintf(format, args...)}
	}
	open := func(detail string) receipt.Check {
		return receipt.Check{Status: receipt.NotChecked, Code: receipt.CodeLinkNotChecked, Detail: "link: " + detail}
	}
	switch m {
	case markLinked:
		return receipt.Check{Status: receipt.Passed}
	case markCopy:
		return receipt.Check{Status: receipt.NotApplicable}
	case markDamaged:
		return open("the receipt does not fit its own hash, so its place shows nothing")
	case markGap:
		return open("its predecessor is not in the input, which has documents that are no readable receipts")
	case markMissing:
		c := failed(receipt.CodeChainBreak, "names %s, which no receipt in the input has", link.Previous)
		if other.index > 0 {
			c.Hint = "the receipts up to " + s.address(other) + " are connected"
		}
		return c
	case markFork:
		return failed(receipt.CodeChainFork, "names %s, which %s names too", link.Previous, s.address(other))
	case markLate:
		return failed(receipt.CodeChainBreak, "names %s, which comes behind it, in %s", link.Previous, s.address(other))
	case markSecond:
		return failed(receipt.CodeChainBreak, "states that nothing precedes it, and so does %s", s.address(other))
	case markForeign:
		c := failed(receipt.CodeChainBreak, "%s, the predecessor given is another", names(link))
		c.Computed = s.options.after(s.names[s.streams[string(it.facts.stream)]]).String()
		return c
	case markDuplicate:
		c := failed(receipt.CodeDuplicateID, "%s has the same receipt_id, but another content", s.address(other))
		c.Pointer, c.Stated = "/receipt_id", it.facts.computed.String()
		return c
	}
	if s.options.Partial {
		return open("its predecessor is not in the input, which is a selection")
	}
	return open("its predecessor is not in the input")
}

func (s *survey) address(a address) string {
	name := s.sources[a.source].Name
	if s.docs[a.source] > 1 {
		return fmt.Sprintf("%s:%d", name, a.index)
	}
	return name
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
