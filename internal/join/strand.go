package join

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
)

// A Strand describes one stream. Before [Begin] is called for the stream, only the sums are set.
type Strand struct {
	Stream   chain.Stream
	Count    int64 // number of receipts; copies count once
	Failures int64 // invalid links
	Intact   bool  // at least one receipt matches its stated hash; otherwise, the stream name may have been altered
	Found    bool  // the expected head is in the stream

	First    bool         // the first receipt states that it has no predecessor
	Previous canon.Digest // the hash that the first receipt names; zero if First
	Head     canon.Digest // the stated hash of the last receipt
}

// Add adds the sums of another strand of the same stream. The order of additions does not matter.
func (s *Strand) Add(o *Strand) {
	s.Stream = o.Stream
	s.Count += o.Count
	s.Failures += o.Failures
	s.Intact = s.Intact || o.Intact
	s.Found = s.Found || o.Found
}

// Segment returns the stream as a segment, from its beginning to its head.
func (s *Strand) Segment() chain.Segment {
	return chain.Segment{Stream: s.Stream, Count: uint64(max(s.Count, 0)), First: s.First, Previous: s.Previous, Head: s.Head,
		Failures: uint64(max(s.Failures, 0))}
}

// Flags in the encoding of a strand.
const (
	strandTenant = 1 << iota
	strandIntact
	strandFound
	strandFirst
	strandKnown = 1<<iota - 1
)

// Append appends the encoded strand: the version, the flags, the strings of the stream, varints
// with the count and the failures, the predecessor hash, and the head.
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

// ParseStrand parses the bytes that [Strand.Append] writes, and rejects all other bytes.
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

	// The only valid encoding is the encoding that Append writes.
	if u.short || len(u.rest) > 0 || flags&^strandKnown != 0 || !bytes.Equal(s.Append(make([]byte, 0, len(b))), b) {
		return Strand{}, errRecord
	}
	return s, nil
}

// StreamKey returns the key for the third grouping and for adding the strands of a stream.
// Different streams have different keys.
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

// Begin evaluates the open parts of one stream, given the sums of all its strands. It returns the
// completed receipts and the strand with its ends.
func Begin(s Strand, open []Part, t Terms) (done []Record, _ Strand) {
	given := t.previous(s.Stream)

	// The result must not depend on the order in which parts arrive.
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

	// The orphans are now in the order that a Beginner requires.
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
