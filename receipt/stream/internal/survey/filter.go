package survey

import (
	"encoding/binary"

	"github.com/receiptkit/receiptkit/canon"
)

// A filter is a Bloom filter of digests: what it does not have was surely not
// added, and what it has may be another. Its size is fixed: 2^26 bits, 8 MiB, in
// which of 3 million digests one in a thousand is taken for another, of 10 million
// one in twenty.
type filter struct{ bits []uint64 }

const (
	filterBits = 1 << 26
	// filterProbes are the bits of a digest. Digests are uniform, so that their own
	// bytes say which.
	filterProbes = 4
)

func newFilter() *filter { return &filter{make([]uint64, filterBits/64)} }

func (f *filter) add(d canon.Digest) {
	for i := range filterProbes {
		word, bit := probe(d, i)
		f.bits[word] |= bit
	}
}

// has reports whether a digest may have been added. False is certain.
func (f *filter) has(d canon.Digest) bool {
	for i := range filterProbes {
		if word, bit := probe(d, i); f.bits[word]&bit == 0 {
			return false
		}
	}
	return true
}

func probe(d canon.Digest, i int) (word int, bit uint64) {
	at := binary.LittleEndian.Uint64(d[8*i:]) % filterBits
	return int(at / 64), 1 << (at % 64)
}
