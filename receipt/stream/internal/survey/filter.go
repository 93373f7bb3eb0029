package survey

import (
	"encoding/binary"

	"github.com/receiptkit/receiptkit/canon"
)

// A filter is a Bloom filter of digests. A digest that is not in the filter was certainly not
// added; a digest that is in the filter may or may not have been added. The filter has a fixed size
// of 2^26 bits (8 MiB). The false-positive rate is 1 in 1,000 after 3 million digests and 1 in 20
// after 10 million.
type filter struct{ bits []uint64 }

const (
	filterBits = 1 << 26
	// filterProbes is the number of bits that are set per digest. Digests are uniformly
	// distributed, so the bits are selected by the bytes of the digest itself.
	filterProbes = 4
)

func newFilter() *filter { return &filter{make([]uint64, filterBits/64)} }

func (f *filter) add(d canon.Digest) {
	for i := range filterProbes {
		word, bit := probe(d, i)
		f.bits[word] |= bit
	}
}

// has reports whether a digest may have been added. If the result is false, the digest was
// certainly not added.
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
