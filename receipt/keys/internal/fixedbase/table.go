package fixedbase

import (
	"encoding/binary"

	"filippo.io/edwards25519"
)

// Scalars are below the group order L = 2^252 + c, where 0 < c < 2^125 (RFC 8032
// section 5.1).
const scalarBits = 252

// A table contains the multiples of one point P that windows of width w need: n = ⌈252/w⌉
// consecutive rows. Row i begins with 2^(w·i)·P. The last row has 2^(252−w·(n−1)) points, and
// the others have 2^(w−1).
//
// The last row is long enough, as the following argument shows. Above the bits of the previous
// rows, the highest possible bit of a scalar is bit 252. If bit 252 is set, bits 125 to 251 are
// zero, because c is below 2^125. There is then no carry from below, and the digit is
// 2^(252−w·(n−1)). Otherwise, the digit is smaller, and a carry adds one.
type table struct {
	width  uint
	points []edwards25519.Point
}

// shape returns the number of rows, and the number of points in the last row.
func shape(width uint) (rows uint, last int) {
	rows = (scalarBits + width - 1) / width
	return rows, 1 << (scalarBits - width*(rows-1))
}

// size returns the number of points.
func size(width uint) int {
	rows, last := shape(width)
	return int(rows-1)<<(width-1) + last
}

func newTable(p *edwards25519.Point, width uint) table {
	t := table{width, make([]edwards25519.Point, size(width))}
	rows, _ := shape(width)

	unit := new(edwards25519.Point).Set(p)
	for i := range rows {
		row := t.points[i<<(width-1):]
		if i < rows-1 {
			row = row[:1<<(width-1)]
		}
		row[0].Set(unit)
		for j := 1; j < len(row); j++ {
			row[j].Add(&row[j-1], unit)
		}
		// The last point is 2^(w−1) units. Twice that is the unit of the next row.
		unit.Add(&row[len(row)-1], &row[len(row)-1])
	}

	return t
}

// A term is one addend of a sum: the point at term−1 of a table or, if the term is negative, the
// point at −term−1, which is subtracted.
type term int32

// appendTerms appends the digits of s, the 32 bytes of a scalar.
func (t *table) appendTerms(terms []term, s []byte) []term {
	var padded [scalarBits/8 + 5]byte // so that each window is within four bytes
	copy(padded[:], s)
	rows, _ := shape(t.width)
	half := term(1) << (t.width - 1)
	row, carry := term(0), term(0)
	for i := range rows {
		// The last window is the remainder above the other windows.
		at := i * t.width
		window := binary.LittleEndian.Uint32(padded[at/8:]) >> (at % 8)
		if i < rows-1 {
			window &= 1<<t.width - 1
		}

		// If a digit exceeds half a window, it becomes negative, and the next digit increases by
		// one.
		digit := term(window) + carry
		carry = 0
		if digit > half && i < rows-1 {
			digit -= 2 * half
			carry = 1
		}

		switch {
		case digit > 0:
			terms = append(terms, row+digit)
		case digit < 0:
			terms = append(terms, -row+digit)
		}
		row += half
	}

	return terms
}

// appendPoints appends copies of the points of terms.
func (t *table) appendPoints(points []edwards25519.Point, terms []term) []edwards25519.Point {
	for _, at := range terms {
		points = append(points, t.points[max(at, -at)-1])
	}
	return points
}
