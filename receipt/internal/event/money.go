package event

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// Amounts of money are added as decimal numbers, so 0.1 and 0.2 are exactly 0.3. A receipt contains
// the double nearest to the sum, with the fewest digits that identify it.
const (
	maxDecimals = 40 // maximum number of digits after the decimal point; more than any double near one cent needs
	maxWhole    = 15 // before the point
)

// Money is an amount of money, multiplied by 10^maxDecimals.
type Money struct{ big.Int }

// ParseMoney parses an amount that is written as a JSON number. It reports false if the amount is
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

	// A decimal point must have digits on both sides (RFC 8259 section 6).
	whole, fraction, pointed := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if whole == "" || pointed && fraction == "" || strings.Trim(digits, "0123456789") != "" {
		return nil, false
	}

	// Leading and trailing zeros do not change the value, so they do not count toward the limits.
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

// Plus adds n to m.
func (m *Money) Plus(n *Money) { m.Int.Add(&m.Int, &n.Int) }

// Agrees reports whether two amounts differ by less than a billionth of their unit. Adding doubles
// can result in such a difference.
func (m *Money) Agrees(n *Money) bool {
	d := new(big.Int).Sub(&m.Int, &n.Int)
	return len(d.Abs(d).String()) <= maxDecimals-9
}

// Float returns the double nearest to the amount.
func (m *Money) Float() float64 {
	f, err := strconv.ParseFloat(m.Int.String()+"e-"+strconv.Itoa(maxDecimals), 64)
	if err != nil { // cannot happen, because a sum of MaxEvents amounts is within the range of doubles
		return 0
	}
	return f
}

// WantMoney accepts the same values as [Event.Money].
func WantMoney(e *Event, n canon.Node) { e.moneyOf(n) }

// Money returns an optional amount, which is a number, a string that contains a number, or {amount,
// currency}.
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

	// The digits of the number are used, because a double would round them.
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
