package stream

import (
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream/internal/survey"
)

const acrossParts = "whether two parts use one receipt_id for two receipts, and whether a link leads into another stream"

// An endsJoiner joins two parts by the ends of their streams, because at least one of the parts has
// no roster.
type endsJoiner struct {
	*merger
	both  map[chain.Stream]bool // streams that occur in both parts
	heads map[canon.Digest]chain.Stream
	known bool // the hashes of all receipts are listed
	apart bool // no receipt occurs in both parts
	open  bool // at least one result cannot be determined
}

func newEndsJoiner(m *merger) *endsJoiner {
	return &endsJoiner{merger: m, both: map[chain.Stream]bool{}, heads: map[canon.Digest]chain.Stream{}}
}

// join adds a finding only if no receipt within the parts could show that the finding is wrong.
func (p *endsJoiner) join() {
	a, b := p.parts[0], p.parts[1]
	segments := slices.Concat(a.Streams, b.Streams)
	p.Streams = chain.Join(slices.Clone(segments))
	if !p.hasNote(receipt.CodeIDsNotChecked) {
		p.addNote(receipt.CodeIDsNotChecked, acrossParts)
	}
	// A run over the files of all parts compares any number of receipts. A report of at most
	// MaxRoster receipts lacks a roster only if an old version wrote it. Such reports can still be
	// merged.
	if p.strict() || p.Receipts > survey.MaxRoster {
		p.addNote(receipt.CodePartsNotJoined, acrossParts+": one run over all parts compares that")
	}

	// A receipt that was counted twice in a part is still counted twice.
	for _, n := range slices.Concat(a.NotChecked, b.NotChecked) {
		if n.Code == receipt.CodePartsOverlap {
			p.keepOverlap(n.Detail)
		}
	}
	p.compareHashes(a.hashes(), b.hashes())

	for _, g := range a.Streams {
		p.both[g.Stream] = slices.ContainsFunc(b.Streams, func(o chain.Segment) bool { return o.Stream == g.Stream })
	}
	for _, g := range p.Streams {
		p.heads[g.Head] = g.Stream
	}

	// A receipt that is missing from one part may be in the other part.
	p.reopen(segments)
	for rest := p.Streams; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Stream == rest[0].Stream {
			n++
		}
		p.judge(rest[:n])
		rest = rest[n:]
	}
	if p.open {
		p.noteNotJoined("their reports do not list all receipts, or some are selections")
	}
}

// compareHashes compares the receipts of both parts if both parts list their receipts.
func (p *endsJoiner) compareHashes(a, b map[canon.Digest]bool) {
	if p.known = a != nil && b != nil; !p.known {
		return
	}

	p.listed = map[canon.Digest]bool{}
	var shared []canon.Digest
	for d := range a {
		p.listed[d] = true
		if b[d] {
			shared = append(shared, d)
		}
	}

	for d := range b {
		p.listed[d] = true
	}
	p.noteOverlap(shared)
	p.apart = !p.hasNote(receipt.CodePartsOverlap)
}

// reopen makes breaks within streams undecided if the other part has receipts of the same stream,
// because the missing receipts may be among them.
func (p *endsJoiner) reopen(segments []chain.Segment) {
	breaks := 0
	for _, g := range segments {
		if p.both[g.Stream] {
			breaks += int(min(g.Failures, uint64(p.Refuted)))
		}
	}

	n := min(breaks, p.Codes[receipt.CodeChainBreak], p.Refuted)
	if n == 0 {
		return
	}
	p.Refuted -= n
	p.Undecided += n
	p.countCode(receipt.CodeChainBreak, -n)
	p.countCode(receipt.CodePartsNotJoined, n)
}

// judge compares the segments of a stream with each other.
func (p *endsJoiner) judge(group []chain.Segment) {
	stream := group[0].Stream
	if p.selected[stream] && (len(group) > 1 || p.both[stream]) {
		p.open = true
		return
	}
	if g := group[0]; len(group) == 1 && !g.First && p.leadsAway(g) {
		p.addFinding(strangerFinding(stream, g.Previous))
	}

	for i := 1; i < len(group); i++ {
		p.judgeApart(group, &group[i-1], &group[i])
	}
}

// judgeApart determines the finding for two segments of a stream that did not join. The receipts
// between them may be missing, duplicated, or not listed.
func (p *endsJoiner) judgeApart(group []chain.Segment, before, after *chain.Segment) {
	stream := after.Stream
	together := before.First == after.First && before.Previous == after.Previous
	split := p.apart || before.Count == after.Count && before.Failures+after.Failures == 0
	switch {
	case before.Head == after.Head:
		if !p.known {
			p.noteOverlap([]canon.Digest{after.Head})
		}
	case together && split && after.First:
		p.addFinding(firstsFinding(stream))
	case together && split:
		p.addFinding(forkFinding(stream, after.Previous))
	case !together && p.surelyMissing(group, after):
		p.addFinding(missingFinding(stream, after.Previous))
	case !together && p.surelyInside(group, after):
		p.addFinding(forkFinding(stream, after.Previous))
	default:
		p.open = true
	}
}

// leadsAway reports whether the first receipt of a segment names a receipt in another stream.
func (p *endsJoiner) leadsAway(g chain.Segment) bool {
	other, is := p.heads[g.Previous]
	return is && other != g.Stream || p.listed[g.Previous]
}

// surelyMissing reports whether neither part can contain the receipt before a segment.
func (p *endsJoiner) surelyMissing(group []chain.Segment, after *chain.Segment) bool {
	if p.Undecided > 0 || slices.ContainsFunc(group, func(g chain.Segment) bool { return g.Head == after.Previous }) {
		return false
	}
	if p.known {
		return !p.listed[after.Previous]
	}
	return !slices.ContainsFunc(group, func(g chain.Segment) bool { return g.Count != 1 })
}

// surelyInside reports whether the receipt before a segment is within another segment, where it
// already has a successor.
func (p *endsJoiner) surelyInside(group []chain.Segment, after *chain.Segment) bool {
	return p.apart && p.listed[after.Previous] &&
		!slices.ContainsFunc(group, func(g chain.Segment) bool { return g.Head == after.Previous || g.Failures > 0 })
}
