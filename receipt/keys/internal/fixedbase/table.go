package fixedbase

import (
	"encoding/binary"

	"filippo.io/edwards25519"
)

// Scalars are less than the order L = 2^252 + c of the group, where 0 < c < 2^125 (RFC 8032 section
// 5.1).
const scalarBits = 252

// A table contains multiples of a point P for windows of width w, in n = ⌈252/w⌉ consecutive rows.
// The first point in row i is 2^(w·i)·P. The last row has 2^(252−w·(n−1)) points, and each of the
// others has 2^(w−1).
//
// The last row is long enough for the following reason. The highest bit that can be set in a scalar
// is bit 252. If bit 252 is set, bits 125 to 251 are zero, because c is less than 2^125. In this
// case, there is no carry from the previous row, and the last digit is 2^(252−w·(n−1)). Otherwise,
// the last digit is smaller than that, even after a carry of one is added.
type table struct {
	width  uint
	points []edwards25519.Point
}

// shape returns the number of rows and the number of points in the last row.
func shape(width uint) (rows uint, last int) {
	rows = (scalarBits + width - 1) / width
	return rows, 1 << (scalarBits - width*(rows-1))
}

// size returns the number of points in a table.
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
		// The last point in the row is 2^(w−1) times the unit. Twice this point is the unit of the
		// next row.
		unit.Add(&row[len(row)-1], &row[len(row)-1])
	}

	return t
}

// A term is a summand. A positive term is the point at index term−1 of a table, which is added, and
// a negative term is the point at index −term−1, which is subtracted.
type term int32

// appendTerms appends the terms for the digits of the scalar s, which is 32 bytes long.
func (t *table) appendTerms(terms []term, s []byte) []term {
	var padded [scalarBits/8 + 5]byte // so that four bytes can be read for each window
	copy(padded[:], s)
	rows, _ := shape(t.width)
	half := term(1) << (t.width - 1)
	row, carry := term(0), term(0)
	for i := range rows {
		// The last window contains all remaining bits.
		at := i * t.width
		window := binary.LittleEndian.Uint32(padded[at/8:]) >> (at % 8)
		if i < rows-1 {
			window &= 1<<t.width - 1
		}

		// If a digit is more than half a window, subtract a full window from it and add one to the
		// next digit.
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

// appendPoints appends copies of the points that the terms refer to.
func (t *table) appendPoints(points []edwards25519.Point, terms []term) []edwards25519.Point {
	for _, at := range terms {
		points = append(points, t.points[max(at, -at)-1])
	}
	return points
}
