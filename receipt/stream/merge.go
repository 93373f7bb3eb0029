package stream

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// aboutLinks reports whether a code is about how receipts stand to each other.
func aboutLinks(code receipt.Code) bool {
	return code == receipt.CodeChainBreak || code == receipt.CodeChainFork || code == receipt.CodeDuplicateID
}

// joinRosters joins the receipts of two parts as one run over their sources does:
// the same survey finds the same.
func (s *Summary) joinRosters(a, b *roster) error {
	c, err := crowdOf(a, b)
	if err != nil {
		return fmt.Errorf("stream: summary: %w", err)
	}

	v, err := c.survey()
	if err != nil {
		return err
	}

	// A link that failed in a part may hold among all receipts, and the other way
	// round.
	copies, number := map[canon.Digest]int{}, 0
	_ = c.each(func(it *item, a *attendee) error {
		m := v.marks[number]
		number++
		if m == markCopy {
			copies[a.computed]++
		}
		if a.again {
			copies[a.computed]--
		}

		if a.fault != nil {
			s.settle(a.fault, !m.failed())
		} else if m.failed() {
			s.addFinding(m.finding(v.names[v.streams[string(it.facts.key)]], &it.facts))
		}

		return nil
	})

	// A receipt that comes again across parts was counted in both.
	var shared []canon.Digest
	for d, n := range copies {
		if n > 0 {
			shared = append(shared, d)
		}
	}
	s.noteOverlap(shared)

	if len(v.unknown) > 0 {
		s.noteNotJoined("some of them are selections, and their predecessors are not there")
	}

	// A stream of damaged receipts alone is not listed.
	for i, e := range v.ends {
		if v.intact[i] {
			s.Streams = append(s.Streams, e.Segment)
		}
	}
	s.Streams = chain.Join(s.Streams)

	// Receipts that are too many to remember are listed by their hashes.
	if s.roster = c.pack(); s.roster == nil {
		s.List(c.hashes())
	}

	return nil
}

// settle takes back what a failed link did to its receipt, once it holds among
// the receipts of all parts.
func (s *Summary) settle(f *fumble, holds bool) {
	if f.healed == holds {
		return
	}
	f.healed = holds
	by := 1
	if !holds {
		by = -1
	}

	s.Refuted -= by
	s.countCode(f.code, -by)
	if f.own == receipt.Verified {
		s.Verified += by
		return
	}
	s.Undecided += by
	s.countCode(f.reason, by)
}

func (s *Summary) countCode(code receipt.Code, by int) {
	if s.Codes[code] += by; s.Codes[code] == 0 {
		delete(s.Codes, code)
	}
}

func (s *Summary) noteOverlap(shared []canon.Digest) {
	if len(shared) > 0 {
		d := slices.MinFunc(shared, func(a, b canon.Digest) int { return bytes.Compare(a[:], b[:]) })
		s.addNote(receipt.CodePartsOverlap, "two parts hold the receipt %s, so it was counted twice", d)
	}
}

func (s *Summary) noteNotJoined(why string) {
	s.addNote(receipt.CodePartsNotJoined, "whether receipts are missing between parts: %s", why)
}

// joinStreams joins two parts of which one does not remember its receipts, by the
// ends of their streams. It refutes only what no receipt that may be inside of
// them could mend.
func (s *Summary) joinStreams(a, b *Summary) {
	s.Streams = chain.Join(slices.Concat(a.Streams, b.Streams))
	s.addNote(receipt.CodeIDsNotChecked, acrossParts)
	p := pair{s: s, both: map[chain.Stream]bool{}, heads: map[canon.Digest]chain.Stream{}}
	p.compareHashes(a.hashes(), b.hashes())

	for _, g := range a.Streams {
		p.both[g.Stream] = slices.ContainsFunc(b.Streams, func(o chain.Segment) bool { return o.Stream == g.Stream })
	}
	for _, g := range s.Streams {
		p.heads[g.Head] = g.Stream
	}

	// What is missing inside one part may be in the other.
	p.reopen(slices.Concat(a.Streams, b.Streams))
	for rest := s.Streams; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Stream == rest[0].Stream {
			n++
		}
		p.judge(rest[:n])
		rest = rest[n:]
	}

	if p.open {
		s.noteNotJoined("their reports do not list all receipts, or some are selections")
	}
}

const acrossParts = "whether two parts use one receipt_id for two receipts, and whether a link leads into another stream"

// A pair is two parts that are joined by the ends of their streams.
type pair struct {
	s     *Summary
	both  map[chain.Stream]bool // streams that are in both
	heads map[canon.Digest]chain.Stream
	known bool // the hashes of all receipts are, as s.listed
	apart bool // and none is in both parts
	open  bool // something cannot be told
}

// compareHashes compares the receipts of two parts, where both list them.
func (p *pair) compareHashes(a, b map[canon.Digest]bool) {
	if p.known = a != nil && b != nil; !p.known {
		return
	}

	p.s.listed = map[canon.Digest]bool{}
	var shared []canon.Digest
	for d := range a {
		p.s.listed[d] = true
		if b[d] {
			shared = append(shared, d)
		}
	}

	for d := range b {
		p.s.listed[d] = true
	}
	p.apart = len(shared) == 0
	p.s.noteOverlap(shared)
}

// reopen leaves the breaks inside of streams open to which another part belongs:
// it may hold what was missing.
func (p *pair) reopen(segments []chain.Segment) {
	breaks := 0
	for _, g := range segments {
		if p.both[g.Stream] {
			breaks += int(min(g.Failures.Count, uint64(p.s.Refuted)))
		}
	}

	n := min(breaks, p.s.Codes[receipt.CodeChainBreak], p.s.Refuted)
	if n == 0 {
		return
	}
	p.s.Refuted -= n
	p.s.Undecided += n
	p.s.countCode(receipt.CodeChainBreak, -n)
	p.s.countCode(receipt.CodePartsNotJoined, n)
}

// judge judges the segments of one stream.
func (p *pair) judge(group []chain.Segment) {
	stream := group[0].Stream
	if p.s.selected[stream] && (len(group) > 1 || p.both[stream]) {
		p.open = true
		return
	}
	if g := group[0]; len(group) == 1 && !g.First && p.leadsAway(g) {
		p.s.addFinding(strangerFinding(stream, g.Previous))
	}

	// What did not join: receipts between two segments are missing, there twice, or
	// not told.
	for i := 1; i < len(group); i++ {
		before, after := &group[i-1], &group[i]
		together := before.First == after.First && before.Previous == after.Previous
		split := p.apart || before.Count == after.Count && before.Failures.Count+after.Failures.Count == 0
		switch {
		case before.Head == after.Head:
			if !p.known {
				p.s.noteOverlap([]canon.Digest{after.Head})
			}
		case together && split && after.First:
			p.s.addFinding(firstsFinding(stream))
		case together && split:
			p.s.addFinding(forkFinding(stream, after.Previous))
		case !together && p.surelyMissing(group, after):
			p.s.addFinding(missingFinding(stream, after.Previous))
		case !together && p.surelyInside(group, after):
			p.s.addFinding(forkFinding(stream, after.Previous))
		default:
			p.open = true
		}
	}
}

// leadsAway reports whether a stream begins after a receipt of another one.
func (p *pair) leadsAway(g chain.Segment) bool {
	other, is := p.heads[g.Previous]
	return is && other != g.Stream || p.known && p.s.listed[g.Previous]
}

// surelyMissing reports whether no part holds the receipt that a segment begins
// after.
func (p *pair) surelyMissing(group []chain.Segment, after *chain.Segment) bool {
	if p.s.Undecided > 0 || slices.ContainsFunc(group, func(g chain.Segment) bool { return g.Head == after.Previous }) {
		return false
	}
	if p.known {
		return !p.s.listed[after.Previous]
	}
	return !slices.ContainsFunc(group, func(g chain.Segment) bool { return g.Count != 1 })
}

// surelyInside reports whether the receipt that a segment begins after is inside
// another one, where it has a successor already.
func (p *pair) surelyInside(group []chain.Segment, after *chain.Segment) bool {
	return p.apart && p.s.listed[after.Previous] &&
		!slices.ContainsFunc(group, func(g chain.Segment) bool { return g.Head == after.Previous || g.Failures.Count > 0 })
}

// hashes returns those of the receipts of a part; nil when they are not known.
func (s *Summary) hashes() map[canon.Digest]bool {
	if s.listed != nil || s.roster == nil {
		return s.listed
	}
	c, err := crowdOf(s.roster)
	if err != nil {
		return nil
	}
	list := map[canon.Digest]bool{}
	for _, d := range c.hashes() {
		list[d] = true
	}
	return list
}
