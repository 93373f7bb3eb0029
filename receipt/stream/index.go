package stream

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// An index remembers the first MaxIndexed receipts of an ordered input, by their
// id and by the predecessor that they name. It is exact for these and knows
// nothing of later ones. A receipt costs about 100 bytes.
type index struct {
	ids    map[fingerprint]seen
	named  map[fingerprint]int32 // who names a predecessor, by line
	hashes map[fingerprint]bool  // of receipts; nil unless the input is a selection
	most   int
	full   bool
}

type seen struct {
	hash    fingerprint
	line    int32
	verdict receipt.Verdict
}

func newIndex(partial bool, most int) *index {
	x := &index{most: most, ids: map[fingerprint]seen{}, named: map[fingerprint]int32{}}
	if partial {
		x.hashes = map[fingerprint]bool{}
	}
	return x
}

// add remembers a receipt whose content fits its hash.
func (x *index) add(f *facts, line int, verdict receipt.Verdict) {
	if len(x.ids) >= x.most {
		x.full = true
		return
	}
	hash, previous := short(f.computed), short(f.link.Previous)
	x.ids[f.id] = seen{hash, int32(line), verdict}
	if x.hashes != nil {
		x.hashes[hash] = true
	}
	if _, taken := x.named[previous]; !taken && !f.link.First {
		x.named[previous] = int32(line)
	}
}

// short is the fingerprint of a digest. It is no prefix of it, since whoever
// writes a receipt may choose the digests that it states.
func short(d canon.Digest) fingerprint { return fingerprintOf(d[:]) }
