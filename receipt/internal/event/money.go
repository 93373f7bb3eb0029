package event

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// Amounts of money are added as decimals, so 0.1 and 0.2 are exactly 0.3. A receipt contains the
// double that is nearest to the sum, with the fewest digits.
const (
	maxDecimals = 40 // digits after the decimal point, more than the longest text of a double of a cent
	maxWhole    = 15 // before the point
)

// Money is an amount, scaled by 10^maxDecimals.
type Money struct{ big.Int }

// ParseMoney parses a JSON number, or a string that contains one. It reports false if the amount is
// negative or out of range.
func ParseMoney(text string) (*Money, bool) {
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		n, err := strconv.Atoi(text[i+1:])
		if err != nil {
			return nil, false
		}
		mantissa, exponent = text[:i], n
	}

	// RFC 8259 section 6: a decimal point has digits on both sides.
	whole, fraction, pointed := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if whole == "" || pointed && fraction == "" || strings.Trim(digits, "0123456789") != "" {
		return nil, false
	}

	// Leading and trailing zeros do not change the value, so limits do not count them.
	exponent -= len(fraction)
	kept := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(kept)
	kept = strings.TrimLeft(kept, "0")
	if kept == "" {
		return new(Money), true
	}
	if exponent < -maxDecimals || exponent > maxWhole || len(kept)+exponent > maxWhole {
		return nil, false
	}

	m := new(Money)
	m.SetString(kept+strings.Repeat("0", maxDecimals+exponent), 10)
	return m, true
}

// Plus adds an amount.
func (m *Money) Plus(n *Money) { m.Int.Add(&m.Int, &n.Int) }

// Agrees reports whether two amounts differ by less than a billionth of their unit, as sums of
// doubles may.
func (m *Money) Agrees(n *Money) bool {
	d := new(big.Int).Sub(&m.Int, &n.Int)
	return len(d.Abs(d).String()) <= maxDecimals-9
}

// Float returns the nearest double.
func (m *Money) Float() float64 {
	f, err := strconv.ParseFloat(m.Int.String()+"e-"+strconv.Itoa(maxDecimals), 64)
	if err != nil { // cannot happen: a sum of MaxEvents amounts is in the range of a double
		return 0
	}
	return f
}

// WantMoney accepts the same amounts as Money.
func WantMoney(e *Event, n canon.Node) { e.moneyOf(n) }

// Money returns an optional amount, from a number, a string with a number, or {amount, currency}.
func (e *Event) Money(of canon.Node, name string) (m *Money, currency string) {
	return e.moneyOf(of.Member(name))
}

func (e *Event) moneyOf(n canon.Node) (m *Money, currency string) {
	if Absent(n) {
		return nil, ""
	}

	amount := n
	if n.Kind() == canon.KindObject {
		amount, currency = n.Member("amount"), e.Text(n, "currency")
	}

	// Use the digits of the number, because a double would round them.
	text := amount.String()
	if amount.Kind() == canon.KindNumber {
		text = string(amount.Raw())
	}

	m, ok := ParseMoney(text)
	if !ok {
		e.Fail(CodePayload, n, "expected an amount from 0 to 10^%d with at most %d decimals", maxWhole, maxDecimals)
		return nil, ""
	}
	if currency != "" && (len(currency) != 3 || strings.Trim(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
		e.Fail(CodePayload, n, "expected a currency of three capital letters")
	}

	return m, currency
}
