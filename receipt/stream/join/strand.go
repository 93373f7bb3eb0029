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
// done are receipts, the strand has its ends.
func Begin(s Strand, open []Part, t Terms) (done []Record, _ Strand) {
	given, partial := t.previous(s.Stream), t.partial(s.Stream)
	open = slices.Clone(open)
	slices.SortFunc(open, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(Rank(a.First, a.Previous, given), Rank(b.First, b.Previous, given)), a.compare(&b.Record))
	})

	b := beginner{Strand: s, open: open}
	for i := range open {
		if p := &open[i]; p.Role == RoleStray {
			if b.stray == nil {
				b.stray, b.hurt = map[Place]bool{}, map[canon.Digest]bool{}
			}
			b.stray[p.Place], b.hurt[p.Stated] = true, true
		}
	}
	for i := range open {
		if p := &open[i]; p.Role == RoleOrphan {
			done = append(done, b.orphan(p.Record, given, partial))
		}
	}

	b.afterDamage()
	b.end()
	return done, b.Strand
}

// A beginner finds the ends of one stream.
type beginner struct {
	Strand
	open  []Part
	stray map[Place]bool        // damaged receipts whose place nothing shows
	hurt  map[canon.Digest]bool // the hashes that these state

	sorted bool
	tails  []*Record // once they are asked for: what nothing names, as Earlier has it

	begun bool
	first Record // what begins the stream
	last  Record // the receipt before, as it was judged
}

// orphan judges the next receipt without a predecessor. A stream begins once: another one
// shows that receipts are missing before it.
func (b *beginner) orphan(r Record, given canon.Digest, partial bool) Record {
	again := b.begun && r.Computed == b.last.Computed
	was := r.Mark
	switch {
	case again:
		r.settle(b.last.Mark, b.last.Related)
	case !b.begun:
		b.begun, b.first, b.First, b.Previous = true, r, r.First, r.Previous
		r.settle(Beginning(r.First, r.Previous, given), Place{})
	case r.First:
		r.settle(MarkSecond, b.first.Place)
	case partial:
		r.settle(MarkOpen, Place{})
	default:
		r.settle(MarkMissing, b.tailBefore(r.Issued))
	}

	// What was found before was counted then.
	if !again && was == MarkLinked && r.Mark.Failed() {
		b.Failures++
	}
	b.last = r
	return r
}

// tailBefore is the receipt that nothing names and that was issued last before a time: what
// missing receipts probably follow.
func (b *beginner) tailBefore(issued int64) Place {
	if !b.sorted {
		b.sorted = true
		for i := range b.open {
			if b.open[i].Role == RoleTail {
				b.tails = append(b.tails, &b.open[i].Record)
			}
		}
		slices.SortStableFunc(b.tails, func(r, o *Record) int { return Earlier(r.Issued, r.Stated, o.Issued, o.Stated) })
	}

	before, _ := slices.BinarySearchFunc(b.tails, issued, func(r *Record, issued int64) int { return cmp.Compare(r.Issued, issued) })
	if before == 0 {
		return Place{}
	}
	return b.tails[before-1].Place
}

// afterDamage finds where a stream begins whose first receipt does not fit its own hash:
// after it.
func (b *beginner) afterDamage() {
	if b.begun {
		return
	}
	for _, role := range []Role{RoleAfter, RoleBehind} {
		for i := range b.open {
			p := &b.open[i]
			if p.Role == role && (role == RoleBehind || b.hurt[p.Previous]) {
				b.Previous = p.Previous
				return
			}
		}
	}
}

// end finds the head: of several receipts that nothing names the one that was issued last.
func (b *beginner) end() {
	var head *Record
	for i := range b.open {
		r := &b.open[i].Record
		if b.open[i].Role == RoleTail && !(r.Mark == MarkDamaged && b.stray[r.Place]) && (head == nil || Earlier(head.Issued, head.Stated, r.Issued, r.Stated) < 0) {
			head = r
		}
	}
	if head == nil { // each is named: a circle, or damage alone
		b.Failures++
		return
	}
	b.Head = head.Stated
}
