package join

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
)

// A Strand describes one stream. Before [Begin] has judged the stream, only the sums are
// set.
type Strand struct {
	Stream   chain.Stream
	Count    int64 // receipts, each content once
	Failures int64 // invalid links
	Intact   bool  // a receipt matches its own hash; otherwise, the name of the stream may be what was altered
	Found    bool  // the expected head is in it

	First    bool         // its first receipt states that it has no predecessor
	Previous canon.Digest // the hash that its first receipt names; zero if First
	Head     canon.Digest // the stated hash of the last receipt
}

// Add adds the sums of another strand of the same stream. The order does not matter.
func (s *Strand) Add(o *Strand) {
	s.Stream = o.Stream
	s.Count += o.Count
	s.Failures += o.Failures
	s.Intact = s.Intact || o.Intact
	s.Found = s.Found || o.Found
}

// Segment returns the stream from its beginning to its head.
func (s *Strand) Segment() chain.Segment {
	return chain.Segment{Stream: s.Stream, Count: uint64(max(s.Count, 0)), First: s.First, Previous: s.Previous, Head: s.Head,
		Failures: uint64(max(s.Failures, 0))}
}

// Flags of a strand as bytes.
const (
	strandTenant = 1 << iota
	strandIntact
	strandFound
	strandFirst
	strandKnown = 1<<iota - 1
)

// Append appends the strand as bytes: the version, the flags, the strings of its stream,
// varints of its count and failures, the hash of its predecessor, and its head.
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

// ParseStrand parses the bytes that [Strand.Append] writes, and rejects all others.
func ParseStrand(b []byte) (Strand, error) {
	u := reader{rest: b}
	if u.byte() != version {
		return Strand{}, errRecord
	}

	flags := u.byte()
	s := Strand{Intact: flags&strandIntact != 0, Found: flags&strandFound != 0, First: flags&strandFirst != 0}
	s.Stream = u.stream(flags&strandTenant != 0)
	s.Count, s.Failures = u.varint(), u.varint()
	u.copy(s.Previous[:])
	u.copy(s.Head[:])

	// Append writes the only accepted encoding.
	if u.short || len(u.rest) > 0 || flags&^strandKnown != 0 || !bytes.Equal(s.Append(make([]byte, 0, len(b))), b) {
		return Strand{}, errRecord
	}
	return s, nil
}

// StreamKey returns the key of the third grouping and of the sums of a stream. Only equal
// streams have equal keys.
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

// Begin judges the open parts of one stream, with the sums of all its strands. It returns
// the receipts, which are done, and the strand with its ends.
func Begin(s Strand, open []Part, t Terms) (done []Record, _ Strand) {
	given := t.previous(s.Stream)

	// The result must not depend on the order in which the parts arrive.
	open = slices.Clone(open)
	slices.SortFunc(open, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.role, b.role), cmp.Compare(Rank(a.First, a.Previous, given), Rank(b.First, b.Previous, given)), a.compare(&b.Record))
	})

	var damage []Damage
	var tails []Node
	for i := range open {
		p := &open[i]
		n := Node{Place: p.Place, Hash: p.Stated, Issued: p.Issued, Damaged: !p.holds()}
		switch p.role {
		case roleOrphan:
		case roleTail:
			tails = append(tails, n)
		default:
			damage = append(damage, Damage{Node: n, Stray: p.role == roleStray, After: p.role == roleAfter, Previous: p.Previous})
		}
	}
	slices.SortFunc(tails, func(n, o Node) int {
		return cmp.Or(Earlier(n.Issued, n.Hash, o.Issued, o.Hash), n.Place.Compare(o.Place))
	})

	// Orphans are now in the order that a Beginner requires.
	b := NewBeginner(Opening{Given: given, Partial: t.partial(s.Stream)}, damage, tails)
	for i := range open {
		if r := &open[i].Record; open[i].role == roleOrphan {
			o := b.Judge(Orphan{Hash: r.Computed, First: r.First, Previous: r.Previous, Issued: r.Issued, Place: r.Place, Mark: r.Mark, Related: r.Related})
			r.Mark, r.Related = o.Mark, o.Related
			done = append(done, *r)
		}
	}

	ends := b.End()
	s.First, s.Previous, s.Head = ends.First, ends.Previous, ends.Head
	s.Failures += ends.Failures
	return done, s
}
