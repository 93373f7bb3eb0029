package survey

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// An index contains the first receipts of an ordered input, up to a limit, by their ID, their hash,
// and the predecessor that they name. For later receipts, it records only which hashes certainly
// did not occur. A receipt requires about 100 bytes.
type index struct {
	ids   map[fingerprint]seen
	nodes map[fingerprint]node // keyed by a receipt's hash, or by the hash that a receipt names
	most  int
	rest  *filter // the hashes after the limit, or nil
}

type seen struct {
	hash    fingerprint
	line    int32
	verdict receipt.Verdict // if the link holds
}

// A node is a digest, with the receipt that has it and the first receipt that names it as the hash
// of its predecessor. Line 0 means that there is no such receipt.
type node struct {
	line, stream  int32 // of the receipt
	namer, naming int32 // line and stream of the receipt that names it
	open          bool  // the link of that receipt is unchecked, because no receipt had the digest
}

func newIndex(most int) *index {
	return &index{most: most, ids: map[fingerprint]seen{}, nodes: map[fingerprint]node{}}
}

// full reports whether there were more receipts than the limit.
func (x *index) full() bool { return x.rest != nil }

// add adds a receipt whose content matches its hash.
func (x *index) add(it *Item, stream int) {
	f := &it.Facts
	if len(x.ids) >= x.most {
		if x.rest == nil {
			x.rest = newFilter()
		}
		x.rest.add(f.Computed)
		return
	}

	hash := short(f.Computed)
	x.ids[f.ID] = seen{hash, int32(it.Index), it.Alone.Own}
	n := x.nodes[hash]
	n.line, n.stream = int32(it.Index), int32(stream)
	x.nodes[hash] = n
	if f.Link.First {
		return
	}

	// The first receipt that names a predecessor is kept, and a second such receipt is a fork.
	previous := short(f.Link.Previous)
	if n := x.nodes[previous]; n.namer == 0 {
		n.namer, n.naming = int32(it.Index), int32(stream)
		n.open = it.Report.Check(receipt.StepLink).Status == receipt.StatusNotChecked
		x.nodes[previous] = n
	}
}

// node returns the entry for a digest.
func (x *index) node(d canon.Digest) node { return x.nodes[short(d)] }

// maybeCopy reports whether a receipt may have occurred before, among the receipts beyond the
// limit.
func (x *index) maybeCopy(hash canon.Digest) bool { return x.rest != nil && x.rest.has(hash) }

// short returns the fingerprint of a digest. It is not a prefix of the digest, because an attacker
// can choose the digests that a receipt states.
func short(d canon.Digest) fingerprint { return fingerprintOf(d[:]) }

// MaxIndexed is the number of receipts that are kept in memory to compare their IDs and to
// distinguish forks from breaks.
const MaxIndexed = 1 << 18
