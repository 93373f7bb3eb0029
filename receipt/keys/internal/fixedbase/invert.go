package fixedbase

import (
	"encoding/binary"
	"math/bits"

	"filippo.io/edwards25519/field"
)

// Division steps are made in batches, on the lowest bits of both numbers. Numbers below 2^256 need
// at most 590 steps (Bernstein and Yang, "Fast constant-time gcd computation and modular
// inversion", in the variant that begins at δ = 1/2).
const (
	batchSteps = 30
	batches    = 20
	lowBits    = 1<<batchSteps - 1
)

// invert returns 1/z. It is several times faster than the exponentiation in package field, because
// z is not secret. The result of the steps is multiplied by z, so it is not trusted: if the product
// is not 1, package field decides.
func invert(z *field.Element) field.Element {
	x := quotient(z)
	var product field.Element
	if product.Multiply(&x, z); product.Equal(new(field.Element).One()) != 1 {
		x.Invert(z)
	}
	return x
}

// quotient computes 1/z from the greatest common divisor f of p = 2^255 − 19 and z. Each step also
// changes d and e, so that f = d·z and g = e·z modulo p.
func quotient(z *field.Element) (x field.Element) {
	f, g := limbs{-19, 8: 1 << 15}, limbsOf(z.Bytes())
	d, e := limbs{}, limbs{1}
	zeta := -1 // −(δ + 1/2)
	for range batches {
		var m matrix
		m, zeta = divide(uint64(f[0]), uint64(g[0]), zeta)
		m.apply(&f, &g)
		m.apply(&d, &e)
	}

	// Now g is 0, and f is 1 or −1. Each batch has added less than p to the absolute value of d, so
	// d + 32·p is positive.
	d[0] -= 32 * 19
	d[8] += 32 << 15
	text := d.bytes()
	_, _ = x.SetWideBytes(text[:]) // 64 bytes are always valid
	if f[8] < 0 {
		x.Negate(&x)
	}
	return x
}

// limbs is a signed number: the sum of limbs[i]·2^(30·i).
type limbs [9]int64

func limbsOf(b []byte) (n limbs) {
	var padded [40]byte
	copy(padded[:], b)
	for i := range n {
		at := i * batchSteps
		n[i] = int64(binary.LittleEndian.Uint64(padded[at/8:])>>(at%8)) & lowBits
	}
	return n
}

// bytes returns a positive number below 2^272 in little-endian order.
func (n *limbs) bytes() (b [64]byte) {
	carry := int64(0)
	for i, limb := range n {
		carry += limb
		at := i * batchSteps
		word := binary.LittleEndian.Uint64(b[at/8:]) + uint64(carry&lowBits)<<(at%8)
		binary.LittleEndian.PutUint64(b[at/8:], word)
		carry >>= batchSteps
	}
	return b
}

// A matrix contains the effect of a batch of steps on two numbers, times 2^30. The absolute values
// in a row add up to at most 2^30.
type matrix struct{ u, v, q, r int64 }

// divide makes a batch of steps, given the lowest bits of f, which is odd, and of g.
func divide(f, g uint64, zeta int) (matrix, int) {
	m := matrix{u: 1, r: 1}
	for left := batchSteps; ; {
		// Each zero bit of g is a step that halves g.
		zeros := bits.TrailingZeros64(g | 1<<left)
		g >>= zeros
		m.u, m.v = m.u<<zeros, m.v<<zeros
		zeta -= zeros
		if left -= zeros; left == 0 {
			return m, zeta
		}
		if zeta < 0 {
			zeta = ^zeta
			f, g = g, -f
			m = matrix{m.q, m.r, -m.u, -m.v}
		}

		// Until the numbers are exchanged again, each step adds f to g if g is odd, and halves g.
		// Adding w·f makes up to six bits of g zero at once, where w = −g/f modulo 2^6.
		w := f * g * (f*f - 2) & (1<<min(zeta+1, left, 6) - 1)
		g += w * f
		m.q += int64(w) * m.u
		m.r += int64(w) * m.v
	}
}

// apply multiplies the column (x, y) by m/2^30 modulo p. A multiple of p makes the numbers that are
// divided divisible; f and g already are.
func (m *matrix) apply(x, y *limbs) {
	const by19 = 678152731 // 1/19 modulo 2^30
	a, b := m.u*x[0]+m.v*y[0], m.q*x[0]+m.r*y[0]
	ofA, ofB := a*by19&lowBits, b*by19&lowBits
	a, b = (a-19*ofA)>>batchSteps, (b-19*ofB)>>batchSteps

	for i := 1; i < len(x); i++ {
		a += m.u*x[i] + m.v*y[i]
		b += m.q*x[i] + m.r*y[i]
		if i == len(x)-1 {
			a, b = a+ofA<<15, b+ofB<<15
		}
		x[i-1], y[i-1] = a&lowBits, b&lowBits
		a, b = a>>batchSteps, b>>batchSteps
	}
	x[len(x)-1], y[len(y)-1] = a, b
}
