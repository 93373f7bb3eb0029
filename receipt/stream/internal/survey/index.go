package survey

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// An index remembers the first maxIndexed receipts of an ordered input, by their
// id, their hash and the predecessor that they name. It is exact for these; of
// the hashes after them it knows which were surely not there. A receipt costs
// about 100 bytes.
type index struct {
	ids   map[fingerprint]seen
	nodes map[fingerprint]node // by the hash of a receipt, or one that a receipt names
	most  int
	rest  *filter // hashes after the first; nil while there are none
}

type seen struct {
	hash    fingerprint
	line    int32
	verdict receipt.Verdict // if its link holds
}

// A node is a digest: the receipt that has it, and the first one that names it as
// its predecessor. Line 0 is none.
type node struct {
	line, stream  int32 // of the receipt
	namer, naming int32 // line and stream of the one that names it
	open          bool  // whose link was left open: nothing had this digest yet
}

func newIndex(most int) *index {
	return &index{most: most, ids: map[fingerprint]seen{}, nodes: map[fingerprint]node{}}
}

// full reports whether there were more receipts than the index is exact for.
func (x *index) full() bool { return x.rest != nil }

// add remembers a receipt whose content fits its hash.
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

	// The first that names a predecessor is kept: any other one is a fork.
	previous := short(f.Link.Previous)
	if n := x.nodes[previous]; n.namer == 0 {
		n.namer, n.naming = int32(it.Index), int32(stream)
		n.open = it.Report.Check(receipt.StepLink).Status == receipt.StatusNotChecked
		x.nodes[previous] = n
	}
}

// node returns what is known of a digest.
func (x *index) node(d canon.Digest) node { return x.nodes[short(d)] }

// maybeCopy reports whether a receipt may have been there before, after the ones
// that the index is exact for.
func (x *index) maybeCopy(hash canon.Digest) bool { return x.rest != nil && x.rest.has(hash) }

// short is the fingerprint of a digest. It is not a prefix of it, since whoever
// writes a receipt may choose the digests that it states.
func short(d canon.Digest) fingerprint { return fingerprintOf(d[:]) }

// MaxIndexed is how many receipts are kept in memory to compare their ids and to
// tell a fork from a break.
const MaxIndexed = 1 << 18
