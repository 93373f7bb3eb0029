package canon

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// A rankedName is a member name while its object is sorted. Most names differ
// in their first eight bytes, so comparing prefixes seldom touches the text.
type rankedName struct {
	prefix uint64
	name   uint32
}

// rank sorts the members of the object at index at by name and records their
// order. It returns the name that stands there a second time, the first such in
// the source, or none. Sorting needs O(n log n) comparisons on every input; no
// hashing is involved that an attacker could load.
func (d *Document) rank(at uint32) (twice uint32) {
	names := d.names[:0]
	for name := at + 1; name < uint32(len(d.nodes)); name = d.nodes[name+1].next {
		names = append(names, rankedName{prefix(d.text(name)), name})
	}
	d.sort(names)
	d.names = names
	d.nodes[at].aux = uint32(len(d.order))
	d.order = append(d.order, uint32(len(names)))
	twice = none
	for i, n := range names {
		d.order = append(d.order, n.name)
		if i > 0 && n.name < twice && n.prefix == names[i-1].prefix &&
			bytes.Equal(d.text(n.name), d.text(names[i-1].name)) {
			twice = n.name
		}
	}
	return twice
}

// sort sorts names by insertion when they are few, as slices.SortFunc would, but
// without two calls for each comparison.
func (d *Document) sort(names []rankedName) {
	if len(names) > 16 {
		slices.SortFunc(names, d.compareRanked)
		return
	}
	for i := 1; i < len(names); i++ {
		n, j := names[i], i
		for ; j > 0 && (n.prefix < names[j-1].prefix ||
			n.prefix == names[j-1].prefix && d.compareRanked(n, names[j-1]) < 0); j-- {
			names[j] = names[j-1]
		}
		names[j] = n
	}
}

func (d *Document) compareRanked(a, b rankedName) int {
	if a.prefix != b.prefix {
		return cmp.Compare(a.prefix, b.prefix)
	}
	if c := compareNames(d.text(a.name), d.text(b.name)); c != 0 {
		return c
	}
	return cmp.Compare(a.name, b.name)
}

// compareNames orders member names by their UTF-16 code units (RFC 8785 section
// 3.2.3), reading UTF-8. A name sorts behind its own prefixes.
func compareNames(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+8 <= n && binary.NativeEndian.Uint64(a[i:i+8]) == binary.NativeEndian.Uint64(b[i:i+8]) {
		i += 8
	}
	for ; i < n; i++ {
		if a[i] != b[i] {
			return cmp.Compare(utf16Rank(a[i]), utf16Rank(b[i]))
		}
	}
	return cmp.Compare(len(a), len(b))
}

// utf16Rank maps a byte of UTF-8 so that byte order becomes UTF-16 order. The
// two differ in one case only: characters beyond U+FFFF (first byte from 0xF0
// on) are written in UTF-16 as surrogates, 0xD800 to 0xDFFF, and so come before
// U+E000 to U+FFFF (first byte 0xEE or 0xEF). No byte from 0xEE on is anything
// but a first byte, so two names that first differ there differ in whole
// characters.
func utf16Rank(c byte) byte {
	switch {
	case c >= 0xf0: // to 0xf4
		return c - 2
	case c >= 0xee:
		return c + 5
	}
	return c
}

// prefix returns the first eight bytes of a name as a number that orders like
// the name. Shorter names are filled up with zeros, so equal prefixes decide
// nothing: \u0000 is a character too.
func prefix(name []byte) uint64 {
	var w uint64
	switch {
	case cap(name) >= 8: // what lies behind a short name is loaded and masked
		w = binary.BigEndian.Uint64(name[:8])
		if len(name) < 8 {
			w &^= math.MaxUint64 >> (8 * len(name))
		}
	default:
		for i, c := range name {
			w |= uint64(c) << (56 - 8*i)
		}
	}
	if w&highs == 0 {
		return w
	}
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], w)
	for i, c := range b {
		b[i] = utf16Rank(c)
	}
	return binary.BigEndian.Uint64(b[:])
}
