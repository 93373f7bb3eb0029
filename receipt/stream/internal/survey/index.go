package survey

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// An index contains the first receipts of an ordered input, up to a limit. It can find a receipt by
// its ID, by its hash, and by the predecessor that it names. For receipts after the limit, the
// index contains only a filter. The filter detects hashes that certainly did not occur. Each
// indexed receipt requires about 100 bytes.
type index struct {
	ids   map[fingerprint]seen
	nodes map[fingerprint]node // key: hash of a receipt, or hash of a predecessor that a receipt names
	most  int
	rest  *filter // hashes of the receipts after the limit; nil if the limit was not reached
}

type seen struct {
	hash    fingerprint
	line    int32
	verdict receipt.Verdict // verdict of the receipt if its link is valid
}

// A node contains the receipt with a given digest, and the first receipt that names this digest as
// its predecessor. A line of 0 means that there is no such receipt.
type node struct {
	line, stream  int32 // of the receipt
	namer, naming int32 // line and stream of the receipt that names the digest
	open          bool  // the link of that receipt is unchecked, because no receipt with this digest has occurred
}

func newIndex(most int) *index {
	return &index{most: most, ids: map[fingerprint]seen{}, nodes: map[fingerprint]node{}}
}

// full reports whether there were more receipts than the index can contain.
func (x *index) full() bool { return x.rest != nil }

// add adds a receipt whose stated hash matches its content.
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

	// Only the first receipt that names a predecessor is kept, because any further receipt that
	// names it is a fork.
	previous := short(f.Link.Previous)
	if n := x.nodes[previous]; n.namer == 0 {
		n.namer, n.naming = int32(it.Index), int32(stream)
		n.open = it.Report.Check(receipt.StepLink).Status == receipt.StatusNotChecked
		x.nodes[previous] = n
	}
}

// node returns the node for a digest.
func (x *index) node(d canon.Digest) node { return x.nodes[short(d)] }

// maybeCopy reports whether a receipt with this hash may have occurred after the limit of the
// index. The index must be full.
func (x *index) maybeCopy(hash canon.Digest) bool { return x.rest.has(hash) }

// short returns a fingerprint of a digest. The fingerprint is not simply a prefix of the digest,
// because an attacker can choose the digests in a receipt.
func short(d canon.Digest) fingerprint { return fingerprintOf(d[:]) }

// MaxIndexed is the maximum number of receipts in memory that are used to compare IDs and to
// distinguish forks from breaks.
const MaxIndexed = 1 << 18
