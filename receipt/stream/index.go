package stream

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// An index remembers the first MaxIndexed receipts of an ordered input, by their
// id and by the predecessor that they name. It is exact for these and knows
// nothing of later ones.
type index struct {
	ids    map[fingerprint]seen
	named  map[fingerprint]int // who names a predecessor, by line
	hashes map[fingerprint]int // who has a hash, by line
	full   bool
}

type seen struct {
	hash    fingerprint
	line    int
	verdict receipt.Verdict
}

func newIndex() *index {
	return &index{ids: map[fingerprint]seen{}, named: map[fingerprint]int{}, hashes: map[fingerprint]int{}}
}

// add remembers a receipt whose content fits its hash.
func (x *index) add(f *facts, line int, verdict receipt.Verdict) {
	if len(x.ids) >= MaxIndexed {
		x.full = true
		return
	}
	x.ids[f.id] = seen{short(f.computed), line, verdict}
	x.hashes[short(f.computed)] = line
	if _, taken := x.named[short(f.link.Previous)]; !taken && !f.link.First {
		x.named[short(f.link.Previous)] = line
	}
}

// short is the fingerprint of a digest. It is no prefix of it, since whoever
// writes a receipt may choose the digests that it states.
func short(d canon.Digest) fingerprint { return fingerprintOf(d[:]) }
