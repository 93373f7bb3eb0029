package stream

import (
	"bytes"
	"crypto/sha256"
	"hash"
)

// Readings compare two readings of the same sources: what the first one found
// out must not be believed of anything else. Nil stands for a single reading.
type readings struct {
	one, two hash.Hash
}

func newReadings() *readings { return &readings{sha256.New(), sha256.New()} }

func (r *readings) first(it *item) {
	if !it.end {
		it.facts.sum(r.one)
	}
}

func (r *readings) second(it *item) {
	if r != nil {
		it.facts.sum(r.two)
	}
}

func (r *readings) same() bool {
	return r == nil || bytes.Equal(r.one.Sum(nil), r.two.Sum(nil))
}

// sum adds what the second reading relies on.
func (f *facts) sum(h hash.Hash) {
	if !f.placed {
		h.Write([]byte{0})
		return
	}
	h.Write([]byte{1})
	h.Write(f.link.Hash[:])
	h.Write(f.link.Previous[:])
	h.Write(f.computed[:])
	h.Write(f.id[:])
}
