package rules

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
)

// A Place is where a receipt was read: the number of the input, as the caller counts
// inputs from 0, and its line or item there from 1. The zero Place is none.
type Place struct{ Source, Index int }

// Compare orders places as they are read.
func (p Place) Compare(o Place) int {
	return cmp.Or(cmp.Compare(p.Source, o.Source), cmp.Compare(p.Index, o.Index))
}

// A Node is a receipt as it is compared with others.
type Node struct {
	Number  int // of the receipt, as the caller counts them
	Stream  int // of its stream, as the caller counts them
	Place   Place
	Hash    canon.Digest // that it states; of receipts that fit their own hash that of the content, too
	Issued  int64        // milliseconds since 1970
	Damaged bool         // it does not fit its own hash
}

// maxDamaged bounds what an input of nothing but damage can make us remember.
const maxDamaged = 1 << 16

// A Meeting is the receipts that one digest is about: those that have it and those that
// name it as their predecessor's. The first must all be told before the second.
type Meeting struct {
	has     bool
	intact  Node           // the one whose content has the digest
	bearers map[int]bearer // by stream, of those that state the digest
	damaged []Node         // those that state it and do not fit it, the first maxDamaged
	hurt    bool           // a damaged receipt states the digest, or has it

	naming bool
	last   Node         // of those that name it the last that stands
	before canon.Digest // the hash of the one before
}

// A bearer is the first receipt of a stream that states a digest, and whether one of the
// stream names it.
type bearer struct {
	Node
	named bool
}

// Reset begins another digest.
func (m *Meeting) Reset() {
	bearers := m.bearers
	clear(bearers)
	*m = Meeting{bearers: bearers, damaged: m.damaged[:0]}
}

// State tells of a receipt that states the digest as its own hash. Copies may be told of.
func (m *Meeting) State(n Node) {
	if m.bearers == nil {
		m.bearers = map[int]bearer{}
	}
	if b, there := m.bearers[n.Stream]; !there || b.Damaged && (!n.Damaged || n.Place.Compare(b.Place) < 0) {
		m.bearers[n.Stream] = bearer{Node: n}
	}
	switch {
	case n.Damaged:
		if m.hurt = true; len(m.damaged) < maxDamaged {
			m.damaged = append(m.damaged, n)
		}
	case !m.has || n.Place.Compare(m.intact.Place) < 0:
		m.has, m.intact = true, n
	}
}

// Hurt tells that a damaged receipt has the digest, and states another one.
func (m *Meeting) Hurt() { m.hurt = true }

// A Link is what a meeting says of a receipt that names the digest.
type Link struct {
	Mark    Mark
	Related *Node // what the mark is about, or the predecessor in its stream; nil: not here
	Orphan  bool  // it has no predecessor, and may begin its stream
	Stray   bool  // it does not fit its own hash, and nothing shows its place
	Behind  bool  // it follows a damaged receipt
	After   bool  // which is of its stream
	Again   bool  // it is a copy of the one before
}

// Name judges a receipt that names the digest as its predecessor's. They come sorted by
// stream, and in each as [Earlier] has it; copies after each other.
func (m *Meeting) Name(n Node) (l Link) {
	before, there := m.bearers[n.Stream]
	if there && !before.named {
		before.named = true
		m.bearers[n.Stream] = before
	}
	if n.Damaged {
		return Link{Mark: MarkDamaged, Stray: !there}
	}

	intact := there && !before.Damaged
	l = Link{Mark: MarkLinked, Behind: m.hurt && !intact, After: there && !intact}
	if there {
		l.Related = &before.Node
	}

	// Each link has one finding: the first that fits.
	if m.naming && m.last.Stream == n.Stream {
		l.Again = m.before == n.Hash
		m.before = n.Hash
		if m.last.Hash != n.Hash {
			first := m.last
			l.Mark, l.Related = MarkFork, &first
			return l
		}
	}
	switch {
	case there || m.hurt:
	case m.has:
		l.Mark, l.Related, l.Orphan = MarkElsewhere, &m.intact, true
	default:
		l.Orphan = true
	}
	if l.Again && m.last.Place.Compare(n.Place) < 0 { // what is said of it names the copy that was read first
		n = m.last
	}
	m.naming, m.last, m.before = true, n, n.Hash
	return l
}

// Tails are the receipts that state the digest and that none of their stream names.
func (m *Meeting) Tails(yield func(Node) bool) {
	if m.has && !m.bearers[m.intact.Stream].named && !yield(m.intact) {
		return
	}
	for _, n := range m.damaged {
		if !m.bearers[n.Stream].named && !yield(n) {
			return
		}
	}
}
