package survey

import (
	"encoding/binary"

	"github.com/receiptkit/receiptkit/canon"
)

// A filter is a Bloom filter of digests: if it does not contain a digest, the digest was not added;
// if it contains a digest, the digest may or may not have been added. It has a fixed size of 2^26
// bits, 8 MiB. The false-positive rate is 1 in 1,000 for 3 million digests, and 1 in 20 for 10
// million.
type filter struct{ bits []uint64 }

const (
	filterBits = 1 << 26
	// filterProbes is the number of bits per digest. Digests are uniformly distributed, so their
	// own bytes select the bits.
	filterProbes = 4
)

func newFilter() *filter { return &filter{make([]uint64, filterBits/64)} }

func (f *filter) add(d canon.Digest) {
	for i := range filterProbes {
		word, bit := probe(d, i)
		f.bits[word] |= bit
	}
}

// has reports whether a digest may have been added. If has returns false, the digest was not added.
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
