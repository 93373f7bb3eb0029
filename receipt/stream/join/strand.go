package join

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
)

// A Strand is what is known of one stream. Until [Begin] has judged it only the sums are.
type Strand struct {
	Stream   chain.Stream
	Count    int64 // receipts, each content once
	Failures int64 // links that are false
	Intact   bool  // a receipt of it fits its own hash: otherwise its name may be what was altered
	Found    bool  // the expected head is in it

	First    bool         // its first receipt states that nothing precedes it
	Previous canon.Digest // what that one names; zero when First
	Head     canon.Digest // the stated hash of the last receipt
}

// Add adds the sums of another strand of the same stream, whatever the order.
func (s *Strand) Add(o *Strand) {
	s.Stream = o.Stream
	s.Count += o.Count
	s.Failures += o.Failures
	s.Intact = s.Intact || o.Intact
	s.Found = s.Found || o.Found
}

// Segment is the stream from its beginning to its head.
func (s *Strand) Segment() chain.Segment {
	return chain.Segment{Stream: s.Stream, Count: uint64(max(s.Count, 0)), First: s.First, Previous: s.Previous, Head: s.Head,
		Failures: chain.Failures{Count: uint64(max(s.Failures, 0))}}
}

// Flags of a strand as bytes.
const (
	strandTenant = 1 << iota
	strandIntact
	strandFound
	strandFirst
	strandKnown = 1<<iota - 1
)

// Append appends the strand as bytes: the version, flags, the texts of its stream, varints
// of its count and failures, what precedes it and its head.
func (s *Strand) Append(b []byte) []byte {
	flags := byte(0)
	for i, set := range [...]bool{s.Stream.HasTenant, s.Intact, s.Found, s.First} {
		if set {
			flags |= 1 << i
		}
	}
	b = appendStream(append(b, version, flags), s.Stream)
	b = binary.AppendVarint(binary.AppendVarint(b, s.Count), s.Failures)
	return append(append(b, s.Previous[:]...), s.Head[:]...)
}

// ParseStrand reads what [Strand.Append] wrote, and nothing else.
func ParseStrand(b []byte) (Strand, error) {
	u := reader{rest: b}
	if u.byte() != version {
		return Strand{}, ErrRecord
	}
	flags := u.byte()
	s := Strand{Intact: flags&strandIntact != 0, Found: flags&strandFound != 0, First: flags&strandFirst != 0}
	s.Stream = u.stream(flags&strandTenant != 0)
	s.Count, s.Failures = u.varint(), u.varint()
	u.copy(s.Previous[:])
	u.copy(s.Head[:])
	if u.short || len(u.rest) > 0 || flags&^strandKnown != 0 || !bytes.Equal(s.Append(make([]byte, 0, len(b))), b) {
		return Strand{}, ErrRecord
	}
	return s, nil
}

// StreamKey is the key of the third grouping, and of the sums of a stream: bytes that are
// the same for equal streams alone.
func StreamKey(s chain.Stream) []byte {
	has := byte(0)
	if s.HasTenant {
		has = 1
	}
	return appendStream([]byte{has}, s)
}

func appendStream(b []byte, s chain.Stream) []byte {
	b = appendText(b, s.Issuer)
	if s.HasTenant {
		b = appendText(b, s.Tenant)
	}
	return appendText(b, s.Workspace)
}

// Rank orders the receipts of a stream that have no predecessor by how likely they begin
// it, before [Earlier] does: the one that follows what was given, one that states to be
// the first, any other.
func Rank(first bool, previous, given canon.Digest) int {
	switch {
	case !given.IsZero() && !first && previous == given:
		return 0
	case first:
		return 1
	}
	return 2
}

// Beginning is the mark of the receipt that begins a stream.
func Beginning(first bool, previous, given canon.Digest) Mark {
	switch {
	case !given.IsZero() && (first || previous != given):
		return MarkForeign
	case !first && given.IsZero():
		return MarkOpen
	}
	return MarkLinked
}

// Begin judges what was left open of one stream, with the sums of all its strands. What is
// done are receipts, the strand has its ends. They are all in memory: a [Beginner] takes
// them one by one.
func Begin(s Strand, open []Part, t Terms) (done []Record, _ Strand) {
	given := t.previous(s.Stream)
	open = slices.Clone(open)
	slices.SortFunc(open, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(Rank(a.First, a.Previous, given), Rank(b.First, b.Previous, given)), a.compare(&b.Record))
	})

	var damage []Part
	var tails []Node
	for i := range open {
		switch p := &open[i]; p.Role {
		case RoleOrphan:
		case RoleTail:
			tails = append(tails, Node{Place: p.Place, Hash: p.Stated, Issued: p.Issued, Damaged: !p.Holds()})
		default:
			damage = append(damage, *p)
		}
	}
	slices.SortFunc(tails, func(n, o Node) int {
		return cmp.Or(Earlier(n.Issued, n.Hash, o.Issued, o.Hash), n.Place.compare(o.Place))
	})

	b := NewBeginner(s, damage, tails, t)
	for i := range open {
		if open[i].Role == RoleOrphan {
			done = append(done, b.Orphan(open[i].Record))
		}
	}
	return done, b.End()
}

// A Beginner judges the receipts of one stream that have no predecessor, one after the
// other, and finds the ends of the stream: [Begin] for what does not fit into memory.
type Beginner struct {
	strand  Strand
	given   canon.Digest
	partial bool

	damage []Part                // strays, and what follows damaged receipts
	stray  map[Place]bool        // damaged receipts whose place nothing shows
	hurt   map[canon.Digest]bool // the hashes that these state
	tails  []Node                // what nothing names, as Earlier has it

	begun bool
	first Record // what begins the stream
	last  Record // the receipt before, as it was judged
}

// NewBeginner begins a stream, with the sums of all its strands. Tails are the receipts that
// nothing names, as [Earlier] has it, and damage the parts that are neither these nor orphans.
func NewBeginner(s Strand, damage []Part, tails []Node, t Terms) *Beginner {
	b := &Beginner{strand: s, given: t.previous(s.Stream), partial: t.partial(s.Stream), damage: slices.Clone(damage), tails: tails}
	slices.SortFunc(b.damage, func(p, o Part) int {
		return cmp.Or(cmp.Compare(p.Role, o.Role), cmp.Compare(Rank(p.First, p.Previous, b.given), Rank(o.First, o.Previous, b.given)), p.compare(&o.Record))
	})
	for i := range b.damage {
		if p := &b.damage[i]; p.Role == RoleStray {
			if b.stray == nil {
				b.stray, b.hurt = map[Place]bool{}, map[canon.Digest]bool{}
			}
			b.stray[p.Place], b.hurt[p.Stated] = true, true
		}
	}
	return b
}

// Orphan judges the next receipt without a predecessor. They come as [Rank] orders them,
// and of one rank as [Earlier] does; copies after each other. A stream begins once: another
// one shows that receipts are missing before it.
func (b *Beginner) Orphan(r Record) Record {
	again := b.begun && r.Computed == b.last.Computed
	was := r.Mark
	switch {
	case again:
		if r.Computed == b.first.Computed && r.Place.compare(b.first.Place) < 0 {
			b.first.Place = r.Place
		}
		r.settle(b.last.Mark, b.last.Related)
	case !b.begun:
		b.begun, b.first, b.strand.First, b.strand.Previous = true, r, r.First, r.Previous
		r.settle(Beginning(r.First, r.Previous, b.given), Place{})
	case r.First:
		r.settle(MarkSecond, b.first.Place)
	case b.partial:
		r.settle(MarkOpen, Place{})
	default:
		r.settle(MarkMissing, b.tailBefore(r.Issued))
	}

	// What was found before was counted then.
	if !again && was == MarkLinked && r.Mark.Failed() {
		b.strand.Failures++
	}
	b.last = r
	return r
}

// End returns the stream with its ends.
func (b *Beginner) End() Strand {
	b.afterDamage()
	b.end()
	return b.strand
}

// tailBefore is the receipt that nothing names and that was issued last before a time: what
// missing receipts probably follow.
func (b *Beginner) tailBefore(issued int64) Place {
	before, _ := slices.BinarySearchFunc(b.tails, issued, func(n Node, issued int64) int { return cmp.Compare(n.Issued, issued) })
	if before == 0 {
		return Place{}
	}
	return b.tails[before-1].Place
}

// afterDamage finds where a stream begins whose first receipt does not fit its own hash:
// after it.
func (b *Beginner) afterDamage() {
	if b.begun {
		return
	}
	for _, role := range []Role{RoleAfter, RoleBehind} {
		for i := range b.damage {
			p := &b.damage[i]
			if p.Role == role && (role == RoleBehind || b.hurt[p.Previous]) {
				b.strand.Previous = p.Previous
				return
			}
		}
	}
}

// end finds the head: of several receipts that nothing names the one that was issued last.
func (b *Beginner) end() {
	for i := len(b.tails) - 1; i >= 0; i-- {
		if n := &b.tails[i]; !n.Damaged || !b.stray[n.Place] {
			b.strand.Head = n.Hash
			return
		}
	}
	b.strand.Failures++ // each is named: a circle, or damage alone
}
