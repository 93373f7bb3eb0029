package fixedbase

import (
	"encoding/binary"

	"filippo.io/edwards25519"
)

// Scalars are below the group order L = 2^252 + c, where 0 < c < 2^125 (RFC 8032
// section 5.1).
const scalarBits = 252

// A table holds the multiples of one point P that windows of some width w need:
// n = ⌈252/w⌉ rows, one after the other. Row i begins with 2^(w·i)·P. The last row
// has 2^(252−w·(n−1)) points, the others 2^(w−1).
//
// The last row is long enough. Above its bits a scalar has at most the bit 252.
// When that one is set the bits from 125 to 251 are not, since c is below 2^125, and
// so no carry comes from below: the digit is 2^(252−w·(n−1)). Otherwise it is less,
// and a carry adds one.
type table struct {
	width  uint
	points []edwards25519.Point
}

// shape returns the number of rows, and of points in the last one.
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
		// The last point is 2^(w−1) units: twice that is the unit of the next row.
		unit.Add(&row[len(row)-1], &row[len(row)-1])
	}

	return t
}

// A term is one addend of a sum: the point at term−1 of a table, or at −term−1 to
// be subtracted.
type term int32

// appendTerms writes s, the 32 bytes of a scalar, in digits.
func (t *table) appendTerms(terms []term, s []byte) []term {
	var padded [scalarBits/8 + 5]byte // so that each window is in four bytes
	copy(padded[:], s)
	rows, _ := shape(t.width)
	half := term(1) << (t.width - 1)
	row, carry := term(0), term(0)
	for i := range rows {
		// The last window is what is left above the others.
		at := i * t.width
		window := binary.LittleEndian.Uint32(padded[at/8:]) >> (at % 8)
		if i < rows-1 {
			window &= 1<<t.width - 1
		}

		// Above half a window the digit is negative, and the next one greater by one.
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

// appendPoints copies the points of terms out of the table.
func (t *table) appendPoints(points []edwards25519.Point, terms []term) []edwards25519.Point {
	for _, at := range terms {
		points = append(points, t.points[max(at, -at)-1])
	}
	return points
}
