package canon

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// A rankedName is the name of a member while the members of its object are sorted. Most names
// differ in their first eight bytes, so comparing prefixes is usually sufficient, without reading
// the text. If all names in a list begin with the same bytes, prefix contains the bytes after that
// common beginning.
type rankedName struct {
	prefix uint64
	name   uint32
}

// rank sorts the members of an object by name, and records their order. The object is the node at
// index at. The result is the first name in source order that repeats an earlier name, or none.
// Hashing is not used, because an attacker could cause collisions.
func (d *Document) rank(at uint32) (twice uint32) {
	names := d.names[:0]
	for name := at + 1; name < uint32(len(d.nodes)); name = d.nodes[name+1].next {
		names = append(names, rankedName{prefix(d.text(name)), name})
	}

	d.sort(names, 0)
	d.names = names

	// Equal names (RFC 7493 section 2.3) are now adjacent and in source order.
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

// sort sorts names that are equal up to offset from. Their prefixes must begin at that offset.
// Short lists use insertion sort, as slices.SortFunc does, but without two function calls per
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

// sortMany sorts names by prefix, and then sorts each run of names with equal prefixes by the bytes
// after their common beginning. It therefore reads each byte only a few times, regardless of how
// similar the names are.
func (d *Document) sortMany(names []rankedName, from int) {
	slices.SortFunc(names, compareRanked)
	if names[0].prefix == names[len(names)-1].prefix && d.common(names, from) == from {
		// Some names end at this point, while others continue with \u0000, so that their prefixes
		// are equal.
		slices.SortFunc(names, func(a, b rankedName) int { return d.compareTails(a, b, from) })
		return
	}

	// The common beginning of the names in a run is skipped, so that their prefixes differ again.
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

// common returns the length of the longest prefix that all names have in common. The names are
// known to be equal up to offset from.
func (d *Document) common(names []rankedName, from int) int {
	first := d.text(names[0].name)
	n := len(first)
	for _, other := range names[1:] {
		text := d.text(other.name)
		n = from + alike(first[from:n], text[from:])
	}
	return n
}

// alike returns the length of the longest common prefix of two names.
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

// compareTails compares names that are equal up to offset from. Equal names are in source order.
func (d *Document) compareTails(a, b rankedName, from int) int {
	if c := compareNames(d.text(a.name)[from:], d.text(b.name)[from:]); c != 0 {
		return c
	}
	return cmp.Compare(a.name, b.name)
}

// compareNames compares two UTF-8 names by their UTF-16 code units (RFC 8785 section 3.2.3). A name
// comes after each of its own prefixes.
func compareNames(a, b []byte) int {
	if i := alike(a, b); i < min(len(a), len(b)) {
		return cmp.Compare(utf16Rank(a[i]), utf16Rank(b[i]))
	}
	return cmp.Compare(len(a), len(b))
}

// utf16Rank maps a byte of UTF-8 such that sorting by the mapped bytes gives the same order as
// sorting by UTF-16 code units. The two orders differ in only one case: in UTF-16, characters
// beyond U+FFFF (first byte 0xF0 or higher) are represented by surrogates, 0xD800 to 0xDFFF, so
// they come before U+E000 to U+FFFF (first byte 0xEE or 0xEF). A byte of 0xEE or higher is always
// the first byte of a character, so if two names first differ at such a byte, both bytes begin a
// character.
func utf16Rank(c byte) byte {
	switch {
	case c >= 0xf0: // to 0xf4
		return c - 2
	case c >= 0xee:
		return c + 5
	}
	return c
}

// prefix returns the first eight bytes of a name as a number. The numbers are in the same order as
// the names. Shorter names are padded with zeros. Equal prefixes therefore do not mean equal names,
// because \u0000 is also a character.
func prefix(name []byte) uint64 {
	var w uint64
	switch {
	case cap(name) >= 8: // for a short name, following bytes are loaded, too, and then masked
		w = binary.BigEndian.Uint64(name[:8])
		if len(name) < 8 {
			w &^= math.MaxUint64 >> (8 * len(name))
		}
	default:
		for i, c := range name {
			w |= uint64(c) << (56 - 8*i)
		}
	}

	// ASCII characters have the same order in UTF-8 and UTF-16.
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
