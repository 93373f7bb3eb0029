package canon

import (
	"bytes"
	"cmp"
	"slices"
)

// rank sorts the members of the object at index at by name and records their
// order. It returns the name that stands there a second time, the first such in
// the source, or none. Sorting needs O(n log n) comparisons on every input; no
// hashing is involved that an attacker could load.
func (d *Document) rank(at uint32) (twice uint32) {
	place := uint32(len(d.order))
	d.order = append(d.order, 0)
	for name := at + 1; name < uint32(len(d.nodes)); name = d.nodes[name+1].next {
		d.order = append(d.order, name)
	}
	names := d.order[place+1:]
	d.order[place] = uint32(len(names))
	slices.SortFunc(names, func(a, b uint32) int {
		if c := compareNames(d.text(a), d.text(b)); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	twice = none
	for i := 1; i < len(names); i++ {
		if names[i] < twice && bytes.Equal(d.text(names[i-1]), d.text(names[i])) {
			twice = names[i]
		}
	}
	d.nodes[at].aux = place
	d.nodes[at].flags &^= flagClean
	return twice
}

// compareNames orders member names by their UTF-16 code units (RFC 8785 section
// 3.2.3), reading UTF-8. The two orders differ in one case only: characters
// beyond U+FFFF (first byte from 0xF0 on) are written in UTF-16 as surrogates,
// 0xD800 to 0xDFFF, and so come before U+E000 to U+FFFF (first byte 0xEE or
// 0xEF). No byte from 0xEE on is anything but a first byte.
func compareNames(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		x, y := a[i], b[i]
		if x == y {
			continue
		}
		if x >= 0xee && y >= 0xee && (x >= 0xf0) != (y >= 0xf0) {
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	}
	return cmp.Compare(len(a), len(b))
}
