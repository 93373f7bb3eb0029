package story

import (
	"strconv"
	"strings"
)

// Digits after the point of an amount: of one that a log tells, and of what is reckoned
// with such amounts.
const (
	maxTold     = 30
	maxDecimals = 36
)

// maxAmount is the largest amount that is believed, in dollars.
const maxAmount = 1e12

// Amount is an amount of dollars as decimal text, the shortest that is the same number; ""
// for what is no amount.
func Amount(f float64) string {
	if !(f >= 0 && f <= maxAmount) { // NaN is neither
		return ""
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if _, fraction, _ := strings.Cut(text, "."); len(fraction) > maxTold {
		return ""
	}
	return text
}
