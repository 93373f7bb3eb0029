package archive

import "math"

// half returns the value of an IEEE-754 binary16: a sign, five bits of exponent
// and ten of fraction (RFC 8949 appendix D).
func half(bits uint16) float64 {
	exponent, fraction := int(bits>>10&31), float64(bits&(1<<10-1))

	// Without a leading one for exponent 0 (zero and subnormals), with it for all others;
	// 31 is infinity, or NaN.
	var f float64
	switch exponent {
	case 0:
		f = math.Ldexp(fraction, -24)
	case 31:
		if f = math.Inf(1); fraction != 0 {
			f = math.NaN()
		}
	default:
		f = math.Ldexp(1<<10+fraction, exponent-25)
	}

	if bits>>15 != 0 {
		return -f
	}
	return f
}
