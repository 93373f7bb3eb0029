package join

import (
	"cmp"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
)

// A role specifies why a receipt is in a group.
type role uint8

const (
	roleStates role = iota + 1 // grouped by digest: the stated hash is the digest
	roleHas                    // the content has the digest, but the receipt states another hash
	roleNames                  // the receipt names the digest as the hash of its predecessor
	roleOrphan                 // grouped by stream: the receipt may begin the stream
	roleTail                   // no receipt in the stream names the receipt
	roleStray                  // the receipt does not match its stated hash, and nothing shows its place
	roleBehind                 // the receipt follows a damaged receipt
	roleAfter                  // the receipt follows a damaged receipt of the same stream
	roleCount
)

// A Part is a receipt in a group of the second or third grouping.
type Part struct {
	role role
	Record
}

// Append appends the encoded part, which consists of its role and its record.
func (p *Part) Append(b []byte) []byte { return p.Record.Append(append(b, byte(p.role))) }

// ParsePart parses the bytes that [Part.Append] writes, and rejects all other bytes.
func ParsePart(b []byte) (Part, error) {
	if len(b) == 0 || b[0] == 0 || role(b[0]) >= roleCount {
		return Part{}, errRecord
	}
	r, err := Parse(b[1:])
	return Part{role(b[0]), r}, err
}

// Digest returns the key of the part in the second grouping.
func (p *Part) Digest() canon.Digest {
	switch p.role {
	case roleNames:
		return p.Previous
	case roleHas:
		return p.Computed
	}
	return p.Stated
}

// Terms specifies what streams must continue and contain. The zero Terms requires nothing.
type Terms struct {
	Partial  func(chain.Stream) bool         // reports whether a stream is a selection, in which an absent predecessor is not a failure
	Previous func(chain.Stream) canon.Digest // returns the hash that the first receipt of a stream must name; zero if unknown
	Head     func(chain.Stream) canon.Digest // returns the hash that a stream must contain; zero if unknown
}

func (t *Terms) partial(s chain.Stream) bool { return t.Partial != nil && t.Partial(s) }

func (t *Terms) previous(s chain.Stream) (d canon.Digest) {
	if t.Previous != nil {
		d = t.Previous(s)
	}
	return d
}

func (t *Terms) head(s chain.Stream) (d canon.Digest) {
	if t.Head != nil {
		d = t.Head(s)
	}
	return d
}

// A desk sorts the parts of a group, and converts each part to a node.
type desk struct {
	parts   []Part
	streams []chain.Stream
}

func newDesk(group []Part) *desk {
	d := &desk{parts: slices.Clone(group)}
	slices.SortFunc(d.parts, func(a, b Part) int {
		return cmp.Or(a.Stream.Compare(b.Stream), cmp.Compare(a.role, b.role), a.compare(&b.Record))
	})

	// Streams are numbered in the order of their names.
	for i := range d.parts {
		if s := d.parts[i].Stream; len(d.streams) == 0 || d.streams[len(d.streams)-1] != s {
			d.streams = append(d.streams, s)
		}
	}
	return d
}

func (d *desk) node(i int) Node {
	p := &d.parts[i]
	stream, _ := slices.BinarySearchFunc(d.streams, p.Stream, chain.Stream.Compare)
	return Node{Number: i, Stream: stream, Place: p.Place, Hash: p.Stated, Issued: p.Issued, Damaged: !p.holds()}
}

// Links evaluates the receipts of one digest, which are all parts with the same [Part.Digest]. The
// returned open parts belong in the third grouping, and the strands must be added up.
func Links(group []Part, t Terms) (done []Record, open []Part, strands []Strand) {
	d := newDesk(group)
	k := linking{terms: t, tally: make([]Strand, len(d.streams))}
	for i, s := range d.streams {
		k.tally[i].Stream = s
	}

	// The receipts that have the digest precede the receipts that name it.
	for i := range d.parts {
		if p := &d.parts[i]; p.role == roleHas {
			k.meeting.Hurt()
		} else if p.role == roleStates {
			k.state(p, d.node(i))
		}
	}

	for i := range d.parts {
		if p := &d.parts[i]; p.role == roleNames {
			k.name(p, d.node(i))
		}
	}

	for n := range k.meeting.Tails {
		k.leave(roleTail, &d.parts[n.Number])
	}

	// A strand whose sums are zero is omitted.
	for _, s := range k.tally {
		if s != (Strand{Stream: s.Stream}) {
			strands = append(strands, s)
		}
	}
	return k.done, k.open, strands
}

// A linking is the state of [Links].
type linking struct {
	terms   Terms
	meeting Meeting
	counted bool     // an intact receipt states the digest
	tally   []Strand // indexed by stream number
	done    []Record
	open    []Part
}

func (k *linking) leave(r role, p *Part) { k.open = append(k.open, Part{r, p.Record}) }

// state adds a receipt that states the digest as its hash.
func (k *linking) state(p *Part, n Node) {
	k.meeting.State(n)
	s := &k.tally[n.Stream]
	s.Found = s.Found || p.Stated == k.terms.head(p.Stream)

	// Intact receipts with the same hash are copies. They count once.
	if n.Damaged || !k.counted {
		s.Count++
	}
	if !n.Damaged {
		k.counted, s.Intact = true, true
	}

	// Only an intact receipt can begin a stream.
	switch {
	case p.First && n.Damaged:
		s.Count--
		k.done = append(k.done, p.Record)
		k.leave(roleStray, p)
	case p.First:
		k.leave(roleOrphan, p)
	}
}

// name evaluates a receipt that names the digest as the hash of its predecessor.
func (k *linking) name(p *Part, n Node) {
	l, s := k.meeting.Name(n), &k.tally[n.Stream]
	if l.Stray {
		s.Count--
		k.leave(roleStray, p)
	}

	// The damaged receipt may be the first in the stream. In that case, the stream begins after it.
	if l.Behind {
		why := roleBehind
		if l.After {
			why = roleAfter
		}
		k.leave(why, p)
	}

	related := Place{}
	if l.Related != nil {
		related = l.Related.Place
	}

	// A failure is counted once for each content.
	if l.Mark.Failed() && p.Mark == MarkLinked && !l.Again {
		s.Failures++
	}
	p.settle(l.Mark, related)

	if l.Orphan {
		k.leave(roleOrphan, p)
	} else {
		k.done = append(k.done, p.Record)
	}
}
