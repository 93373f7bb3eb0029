package survey

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/join"
)

// A leftovers value contains the receipts that must be evaluated together with other receipts of
// their stream. Any number of receipts may lack a predecessor, so a sorter may write these to disk.
// Only the first maxDamaged tails and the first maxDamaged damaged receipts are kept.
type leftovers struct {
	rank    []int   // by stream number: position of the stream when sorted by name
	orphans *sorter // sorts orphanRecords
	scratch []byte
	given   func(stream int) canon.Digest

	tails  []join.Node // receipts that no other receipt names as its predecessor
	heads  []join.Node // by stream: the most recently issued tail that is not damaged; its hash is zero if there is none
	damage []join.Damage
}

func newLeftovers(s *Survey) leftovers {
	l := leftovers{rank: make([]int, len(s.names)), heads: make([]join.Node, len(s.names)),
		orphans: newSorter(orphanRecordWidth, s.Indexed, s.TempDir)}
	for at, stream := range s.byName() {
		l.rank[stream] = at
	}
	l.given = func(stream int) canon.Digest { return s.Previous(s.names[stream]) }
	return l
}

func (l *leftovers) orphan(r linkRecord) {
	o := orphanRecord{stream: l.rank[r.stream], rank: join.Rank(r.first, r.digest, l.given(r.stream)), issued: r.issued, hash: r.hash,
		number: r.number, address: r.address, first: r.first, previous: r.digest}
	l.scratch = o.append(l.scratch[:0])
	l.orphans.add(l.scratch)
}

func (l *leftovers) tail(n join.Node) {
	if h := &l.heads[n.Stream]; !n.Damaged && (h.Hash.IsZero() || join.Earlier(h.Issued, h.Hash, n.Issued, n.Hash) < 0) {
		*h = n
	}

	if len(l.tails) < maxDamaged {
		l.tails = append(l.tails, n)
	}
}

func (l *leftovers) hurt(d join.Damage) {
	if len(l.damage) < maxDamaged {
		l.damage = append(l.damage, d)
	}
}

// sort sorts the receipts in memory by stream. Within a stream, it sorts tails by join.Earlier. The
// most recently issued undamaged tail of each stream is always included.
func (l *leftovers) sort() {
	for i := range l.heads {
		if !l.heads[i].Hash.IsZero() {
			l.tails = append(l.tails, l.heads[i])
		}
	}

	slices.SortFunc(l.tails, func(a, b join.Node) int {
		return cmp.Or(cmp.Compare(l.rank[a.Stream], l.rank[b.Stream]), join.Earlier(a.Issued, a.Hash, b.Issued, b.Hash), cmp.Compare(a.Number, b.Number))
	})
	slices.SortStableFunc(l.damage, func(a, b join.Damage) int { return cmp.Compare(l.rank[a.Stream], l.rank[b.Stream]) })
}

// cutTails removes and returns the tails of the given stream, if it is the next stream.
func (l *leftovers) cutTails(stream int) (of []join.Node) {
	n := 0
	for n < len(l.tails) && l.tails[n].Stream == stream {
		n++
	}
	of, l.tails = l.tails[:n], l.tails[n:]
	return of
}

// cutDamage removes and returns the damage of the given stream, if it is the next stream.
func (l *leftovers) cutDamage(stream int) (of []join.Damage) {
	n := 0
	for n < len(l.damage) && l.damage[n].Stream == stream {
		n++
	}
	of, l.damage = l.damage[:n], l.damage[n:]
	return of
}

const orphanRecordWidth = 4 + 1 + 8 + 32 + 8 + addressWidth + 1 + 32

// An orphanRecord represents a receipt whose predecessor is missing. The order of its fields
// determines the order in which the receipts of a stream are evaluated.
type orphanRecord struct {
	stream int // position of the stream when sorted by name
	rank   int // from join.Rank
	issued int64
	hash   canon.Digest
	number int
	address
	first    bool
	previous canon.Digest
}

func (r *orphanRecord) append(b []byte) []byte {
	b = append(binary.BigEndian.AppendUint32(b, uint32(r.stream)), byte(r.rank))
	b = append(appendInt64(b, r.issued), r.hash[:]...)
	b = r.address.append(binary.BigEndian.AppendUint64(b, uint64(r.number)))
	return append(append(b, flag(r.first)), r.previous[:]...)
}

func parseOrphanRecord(b []byte) (r orphanRecord) {
	p := recordParser{b}
	r.stream, r.rank = int(p.uint32()), int(p.bytes(1)[0])
	r.issued = p.int64()
	copy(r.hash[:], p.bytes(len(r.hash)))
	r.number, r.address, r.first = int(p.uint64()), p.address(), p.flag()
	copy(r.previous[:], p.bytes(len(r.previous)))
	return r
}
