package join

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
)

// A Place is the position of a receipt in the input: the number of the source, starting at 0 in the
// caller's order, and the line or item in this source, starting at 1. The zero Place means that
// there is no position.
type Place struct{ Source, Index int }

// Compare orders places in reading order.
func (p Place) Compare(o Place) int {
	return cmp.Or(cmp.Compare(p.Source, o.Source), cmp.Compare(p.Index, o.Index))
}

// A Node contains the data of a receipt that is needed to compare it with others.
type Node struct {
	Number  int // number of the receipt, assigned by the caller
	Stream  int // number of the stream, assigned by the caller
	Place   Place
	Hash    canon.Digest // the stated hash, which is also the computed hash if the receipt matches it
	Issued  int64        // milliseconds since 1970
	Damaged bool         // the receipt does not match its stated hash
}

// maxDamaged limits the memory that damaged receipts can use.
const maxDamaged = 1 << 16

// A Meeting compares two groups of receipts for one digest: receipts whose hash is the digest, and
// receipts that name the digest as the hash of their predecessor. All receipts that have the digest
// must be added first.
type Meeting struct {
	has     bool
	intact  Node           // the receipt whose content has the digest
	bearers map[int]bearer // by stream: receipts that state the digest as their hash
	damaged []Node         // damaged receipts that state the digest, at most maxDamaged
	hurt    bool           // the digest is the stated or the computed hash of a damaged receipt

	naming bool
	last   Node         // the last receipt whose link to the digest is valid
	before canon.Digest // the hash of the previously added receipt
}

// A bearer is the first receipt of a stream that states a digest. The field "named" records whether
// a receipt of the stream names it as predecessor.
type bearer struct {
	Node
	named bool
}

// Reset prepares the meeting for another digest.
func (m *Meeting) Reset() {
	bearers := m.bearers
	clear(bearers)
	*m = Meeting{bearers: bearers, damaged: m.damaged[:0]}
}

// State adds a receipt that states the digest as its hash. The receipt may be a copy.
func (m *Meeting) State(n Node) {
	if m.bearers == nil {
		m.bearers = map[int]bearer{}
	}

	// An intact receipt represents its stream. If all receipts of a stream are damaged, the first
	// receipt represents it.
	if b, there := m.bearers[n.Stream]; !there || b.Damaged && (!n.Damaged || n.Place.Compare(b.Place) < 0) {
		m.bearers[n.Stream] = bearer{Node: n}
	}

	// If there are several copies, the copy that was read first is reported.
	switch {
	case n.Damaged:
		if m.hurt = true; len(m.damaged) < maxDamaged {
			m.damaged = append(m.damaged, n)
		}
	case !m.has || n.Place.Compare(m.intact.Place) < 0:
		m.has, m.intact = true, n
	}
}

// Hurt records a damaged receipt whose content has the digest, but that states another hash.
func (m *Meeting) Hurt() { m.hurt = true }

// A Link is the result of evaluating one receipt that names the digest.
type Link struct {
	Mark    Mark
	Related *Node // the receipt that the mark refers to, or the predecessor in its stream; nil: not in the input
	Orphan  bool  // the receipt has no predecessor, and may begin its stream
	Stray   bool  // the receipt does not match its stated hash, and nothing shows its place
	Behind  bool  // the receipt follows a damaged receipt
	After   bool  // the damaged receipt is in the same stream
	Again   bool  // the receipt is a copy of the previous receipt
}

// Name evaluates a receipt that names the digest as the hash of its predecessor. Receipts must be
// sorted by stream and then by [Earlier], with copies next to each other.
func (m *Meeting) Name(n Node) (l Link) {
	before, there := m.bearers[n.Stream]
	if there && !before.named {
		before.named = true
		m.bearers[n.Stream] = before
	}

	// A damaged receipt already has a finding for its hash. Only its place in the stream is still
	// unknown.
	if n.Damaged {
		return Link{Mark: MarkDamaged, Stray: !there}
	}

	// A link to a damaged receipt is valid, because it may name either the stated or the computed
	// hash.
	intact := there && !before.Damaged
	l = Link{Mark: MarkLinked, Behind: m.hurt && !intact, After: there && !intact}
	if there {
		l.Related = &before.Node
	}

	// Each link has one finding, which is the first that applies.
	if m.naming && m.last.Stream == n.Stream {
		l.Again = m.before == n.Hash
		m.before = n.Hash
		if m.last.Hash != n.Hash {
			first := m.last
			l.Mark, l.Related = MarkFork, &first
			return l
		}
	}

	// If a receipt of another stream has the digest, the link leads to that stream.
	switch {
	case there || m.hurt:
	case m.has:
		l.Mark, l.Related, l.Orphan = MarkElsewhere, &m.intact, true
	default:
		l.Orphan = true
	}

	if l.Again && m.last.Place.Compare(n.Place) < 0 { // findings refer to the copy that was read first
		n = m.last
	}
	m.naming, m.last, m.before = true, n, n.Hash
	return l
}

// Tails yields the receipts that state the digest and that no receipt in their stream names.
func (m *Meeting) Tails(yield func(Node) bool) {
	if m.has && !m.bearers[m.intact.Stream].named && !yield(m.intact) {
		return
	}

	// All damaged receipts of a stream state the same digest here, so the stream names either all
	// of them or none.
	for _, n := range m.damaged {
		if !m.bearers[n.Stream].named && !yield(n) {
			return
		}
	}
}
