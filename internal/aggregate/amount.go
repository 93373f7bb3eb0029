package aggregate

import (
	"bytes"
	"math/big"
	"strconv"
	"strings"
)

// An amount is an exact sum of decimals: units × 10^-scale. The zero amount is 0.
type amount struct {
	units big.Int
	scale int // from 0 to 342; the smallest double has 342 decimal places
}

// add adds a number in RFC 8785 form, which consists of digits, a fraction, and an exponent. It
// reports false, and adds nothing, if number has any other form.
func (a *amount) add(number []byte) bool {
	mantissa, exponent, _ := bytes.Cut(number, []byte("e"))
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	power := 0
	if len(exponent) > 0 {
		var err error
		if power, err = strconv.Atoi(string(exponent)); err != nil || power > 400 || power < -400 {
			return false
		}
	}

	var units big.Int
	if _, ok := units.SetString(string(whole)+string(fraction), 10); !ok {
		return false
	}

	// A positive power of ten is multiplied out, so the scale is never negative.
	scale := len(fraction) - power
	if scale < 0 {
		units.Mul(&units, tenTo(-scale))
		scale = 0
	}

	// Both numbers are converted to the finer scale, which loses no digits.
	a.raise(scale)
	if scale < a.scale {
		units.Mul(&units, tenTo(a.scale-scale))
	}
	a.units.Add(&a.units, &units)
	return true
}

// plus adds another amount n times.
func (a *amount) plus(b *amount, n int) {
	a.raise(b.scale)
	units := &b.units
	if b.scale < a.scale {
		units = new(big.Int).Mul(units, tenTo(a.scale-b.scale))
	}

	if n != 1 {
		units = new(big.Int).Mul(units, big.NewInt(int64(n)))
	}
	a.units.Add(&a.units, units)
}

// size returns the approximate size of an amount in bytes, or 0 if a is nil.
func (a *amount) size() int {
	if a == nil {
		return 0
	}
	return 48 + 8*cap(a.units.Bits())
}

func (a *amount) raise(scale int) {
	if scale > a.scale {
		a.units.Mul(&a.units, tenTo(scale-a.scale))
		a.scale = scale
	}
}

func tenTo(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// String returns the amount as a decimal without an exponent and without trailing zeros.
func (a *amount) String() string {
	// There must be at least one digit before the decimal point.
	digits := new(big.Int).Abs(&a.units).String()
	if missing := a.scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}

	text := digits[:len(digits)-a.scale]
	if fraction := strings.TrimRight(digits[len(digits)-a.scale:], "0"); fraction != "" {
		text += "." + fraction
	}

	if a.units.Sign() < 0 {
		text = "-" + text
	}
	return text
}

// MarshalText returns the decimal as text, because a sum may have more digits than a double.
func (a *amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }
