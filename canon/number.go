package canon

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// number parses the number at start (RFC 8259 section 6).
func (p *parser) number(start int) (int, error) {
	i := start
	if p.src[i] == '-' {
		i++
	}

	// int = zero / ( digit1-9 *DIGIT )
	integer := i
	if i = digits(p.src, i); i == integer {
		return i, p.expected("a digit", i)
	}
	if p.src[integer] == '0' && i > integer+1 {
		return i, p.expected("no digit after a leading zero", integer+1)
	}

	// frac = decimal-point 1*DIGIT
	fraction := i
	if i < len(p.src) && p.src[i] == '.' {
		if i = digits(p.src, i+1); i == fraction+1 {
			return i, p.expected("a digit after the decimal point", i)
		}
	}

	// exp = e [ minus / plus ] 1*DIGIT
	exponent := i
	if i < len(p.src) && p.src[i]|0x20 == 'e' {
		i++
		if i < len(p.src) && (p.src[i] == '+' || p.src[i] == '-') {
			i++
		}
		if first := i; digits(p.src, i) == first {
			return i, p.expected("a digit in the exponent", i)
		}
		i = digits(p.src, i)
	}

	// Most numbers have few digits and no exponent. Such a number does not have to be converted to
	// a double.
	if exponent == i {
		clean := plainDecimal(p.src[start:i], p.src[integer:fraction], p.src[fraction:i])
		if clean || i-start <= 15 { // short enough to be exact, in range, and not a lossy integer
			p.add(KindNumber, start, i, none, clean)
			return i, nil
		}
	}

	if exponent < i && exponent-start > maxMantissa {
		return i, p.fail(codeNumberRange, start, fmt.Sprintf("expected at most %d bytes before an exponent, found %d", maxMantissa, exponent-start))
	}
	return i, p.double(start, i)
}

// maxMantissa is the maximum number of bytes before an exponent. For longer integers,
// strconv.ParseFloat, and therefore jcs, misplaces the decimal point (1 followed by 1,000 zeros and
// e-1000 becomes 1e-201). It also keeps only five digits of an exponent, so it misreads a number in
// which 10,000 digits compensate for a longer exponent. The only purpose of such numbers is to make
// two readers disagree.
const maxMantissa = 800

// plainDecimal reports whether a number without an exponent is certainly in canonical form. A
// decimal with up to 15 significant digits keeps its value when it is converted to a double and
// back (DBL_DIG). Therefore, no two of these decimals convert to the same double, and each of them
// is the shortest text for its double. The notation must also be that of ECMAScript, which RFC 8785
// section 3.2.2.3 adopts: no trailing zero, no negative zero, and no exponent from 1e-6 up to 1e21.
func plainDecimal(text, integer, fraction []byte) bool {
	if len(fraction) == 0 {
		return len(integer) <= 15 && (text[0] != '-' || integer[0] != '0')
	}
	if fraction[len(fraction)-1] == '0' {
		return false
	}

	fraction = fraction[1:] // the point
	if integer[0] != '0' {
		return len(integer)+len(fraction) <= 15
	}

	// A number with five zeros after the decimal point has no exponent, but a number with six zeros
	// has one: 0.0000001 is 1e-7.
	zeros := 0
	for fraction[zeros] == '0' { // terminates, because the last digit is not zero
		zeros++
	}
	return zeros <= 5 && len(fraction)-zeros <= 15
}

// double adds a number whose canonical form is derived from its double.
func (p *parser) double(start, end int) error {
	text := p.src[start:end]
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil { // the syntax is valid, so the number must be out of range
		return p.fail(codeNumberRange, start, "expected a number within ±1.7976931348623157e308, found "+untrusted.Number(text))
	}

	// Up to 2^53−1, a double distinguishes an integer from its neighbors (RFC 7493 section 2.2).
	const maxSafe = 1<<53 - 1
	if p.lossy == none && math.Abs(f) > maxSafe && f == math.Trunc(f) {
		p.lossy = uint32(len(p.nodes))
	}

	var canonical [32]byte // at most 25 bytes, such as -1.2345678901234567e-300
	p.add(KindNumber, start, end, none, bytes.Equal(AppendFloat(canonical[:0], f), text))
	return nil
}

func digits(src []byte, i int) int {
	for i < len(src) && '0' <= src[i] && src[i] <= '9' {
		i++
	}
	return i
}

// AppendFloat appends the canonical form of a finite number (RFC 8785 section 3.2.2.3) to dst: the
// shortest digits that identify the double, in the notation of ECMAScript's Number::toString
// (ECMA-262 section 6.1.6.1.20). Negative zero is written as "0". Infinities and NaN have no
// representation in JSON. They are written in the same way as by strconv, and JSON parsers reject
// the result.
func AppendFloat(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0')
	}

	if abs := math.Abs(f); 1e-6 <= abs && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}

	begin := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// strconv pads a one-digit exponent with a zero. ECMAScript does not.
	if n := len(dst); n-begin >= 4 && dst[n-4] == 'e' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}
