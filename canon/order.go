package canon

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// A rankedName is a member name while its object is being sorted. Most names differ within their
// first eight bytes, so comparing prefixes rarely requires reading the text. If names are known to
// share a beginning, prefix contains the bytes that follow it.
type rankedName struct {
	prefix uint64
	name   uint32
}

// rank sorts the members of the object at index at by name and records their order. It returns the
// first name in the source that repeats an earlier name, or none. It uses no hashing, because an
// attacker could cause collisions.
func (d *Document) rank(at uint32) (twice uint32) {
	names := d.names[:0]
	for name := at + 1; name < uint32(len(d.nodes)); name = d.nodes[name+1].next {
		names = append(names, rankedName{prefix(d.text(name)), name})
	}

	d.sort(names, 0)
	d.names = names

	// Equal names (RFC 7493 section 2.3) are now adjacent, in source order.
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

// sort sorts names that share their first from bytes and whose prefixes contain the bytes that
// follow. Short lists are sorted by insertion, as in slices.SortFunc, but without two calls per
// comparison.
func (d *Document) sort(names []rankedName, from int) {
	if len(names) > 16 {
		d.sortMany(names, from)
		return
	}
	for i := 1; i < len(names); i++ {
		n, j := names[i], i
		for ; j > 0 && (n.prefix < names[j-1].prefix ||
			n.prefix == names[j-1].prefix && d.compareTails(n, names[j-1], from) < 0); j-- {
			names[j] = names[j-1]
		}
		names[j] = n
	}
}

// sortMany sorts by prefix, and then sorts each run of equal prefixes by the bytes that follow the
// run's shared beginning. Each byte is therefore read only a few times, regardless of how similar
// the names are.
func (d *Document) sortMany(names []rankedName, from int) {
	slices.SortFunc(names, compareRanked)
	if names[0].prefix == names[len(names)-1].prefix && d.common(names, from) == from {
		// Some names end here, while others continue with \u0000, which has the same prefix.
		slices.SortFunc(names, func(a, b rankedName) int { return d.compareTails(a, b, from) })
		return
	}

	// Skip the beginning that a run's names share, so that their prefixes differ again.
	for begin, end := 0, 0; begin < len(names); begin = end {
		for end = begin + 1; end < len(names) && names[end].prefix == names[begin].prefix; end++ {
		}
		if run := names[begin:end]; len(run) > 1 {
			next := d.common(run, from)
			for i := range run {
				run[i].prefix = prefix(d.text(run[i].name)[next:])
			}
			d.sort(run, next)
		}
	}
}

// common returns the length of the beginning that all names share. The first from bytes are already
// known to be equal.
func (d *Document) common(names []rankedName, from int) int {
	first := d.text(names[0].name)
	n := len(first)
	for _, other := range names[1:] {
		text := d.text(other.name)
		n = from + alike(first[from:n], text[from:])
	}
	return n
}

// alike returns the length of the longest prefix that two names share.
func alike(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for i+8 <= n && binary.NativeEndian.Uint64(a[i:i+8]) == binary.NativeEndian.Uint64(b[i:i+8]) {
		i += 8
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func compareRanked(a, b rankedName) int {
	if a.prefix != b.prefix {
		return cmp.Compare(a.prefix, b.prefix)
	}
	return cmp.Compare(a.name, b.name)
}

// compareTails orders names that share their first from bytes. Equal names are ordered by their
// positions in the source.
func (d *Document) compareTails(a, b rankedName, from int) int {
	if c := compareNames(d.text(a.name)[from:], d.text(b.name)[from:]); c != 0 {
		return c
	}
	return cmp.Compare(a.name, b.name)
}

// compareNames orders member names by their UTF-16 code units (RFC 8785 section 3.2.3), reading
// UTF-8. A name sorts after its own prefixes.
func compareNames(a, b []byte) int {
	if i := alike(a, b); i < min(len(a), len(b)) {
		return cmp.Compare(utf16Rank(a[i]), utf16Rank(b[i]))
	}
	return cmp.Compare(len(a), len(b))
}

// utf16Rank maps a UTF-8 byte so that byte order becomes UTF-16 order. The two orders differ in
// only one case: UTF-16 represents characters beyond U+FFFF (first byte from 0xF0) as surrogates,
// 0xD800 to 0xDFFF, so they precede U+E000 to U+FFFF (first byte 0xEE or 0xEF). Bytes from 0xEE
// upward are always first bytes, so if two names first differ in such a byte, they differ in entire
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

// prefix returns a name's first eight bytes as a number that sorts like the name. Shorter names are
// padded with zeros. Equal prefixes are therefore inconclusive, because \u0000 is also a character.
func prefix(name []byte) uint64 {
	var w uint64
	switch {
	case cap(name) >= 8: // the bytes that follow a short name are loaded and masked
		w = binary.BigEndian.Uint64(name[:8])
		if len(name) < 8 {
			w &^= math.MaxUint64 >> (8 * len(name))
		}
	default:
		for i, c := range name {
			w |= uint64(c) << (56 - 8*i)
		}
	}

	// ASCII has the same order in UTF-8 and UTF-16.
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
