package record

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// Amounts of money are added as decimals, so 0.1 and 0.2 are 0.3. A receipt contains the double
// nearest to the sum, with the fewest digits.
const (
	maxDecimals = 40 // after the point, more than the longest text of a double of a cent
	maxWhole    = 15 // before the point
)

// money is an amount times 10^maxDecimals.
type money struct{ big.Int }

// parseMoney parses a JSON number, or a string with one. It reports false if the amount is negative
// or out of bounds.
func parseMoney(text string) (*money, bool) {
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		n, err := strconv.Atoi(text[i+1:])
		if err != nil {
			return nil, false
		}
		mantissa, exponent = text[:i], n
	}

	// RFC 8259 section 6: a point has digits on both sides.
	whole, fraction, pointed := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if whole == "" || pointed && fraction == "" || strings.Trim(digits, "0123456789") != "" {
		return nil, false
	}

	// Zeros at either end change no value, so bounds do not count them.
	exponent -= len(fraction)
	kept := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(kept)
	kept = strings.TrimLeft(kept, "0")
	if kept == "" {
		return new(money), true
	}
	if exponent < -maxDecimals || exponent > maxWhole || len(kept)+exponent > maxWhole {
		return nil, false
	}

	m := new(money)
	m.SetString(kept+strings.Repeat("0", maxDecimals+exponent), 10)
	return m, true
}

func (m *money) add(n *money) { m.Int.Add(&m.Int, &n.Int) }

// agrees reports whether two amounts differ by less than a billionth of their unit, as sums of
// doubles may.
func (m *money) agrees(n *money) bool {
	d := new(big.Int).Sub(&m.Int, &n.Int)
	return len(d.Abs(d).String()) <= maxDecimals-9
}

// float returns the nearest double.
func (m *money) float() float64 {
	f, err := strconv.ParseFloat(m.Int.String()+"e-"+strconv.Itoa(maxDecimals), 64)
	if err != nil { // impossible: a sum of MaxEvents amounts is in the range of a double
		return 0
	}
	return f
}

// costIn reads an amount: a number, a string with a number, or {amount, currency}.
func costIn(e *event.Event, of canon.Node, name string) (m *money, currency string) {
	return amountOf(e, of.Member(name))
}

// wantMoney accepts the amounts that costIn reads.
func wantMoney(e *event.Event, n canon.Node) { amountOf(e, n) }

func amountOf(e *event.Event, n canon.Node) (m *money, currency string) {
	if event.Absent(n) {
		return nil, ""
	}

	amount := n
	if n.Kind() == canon.KindObject {
		amount, currency = n.Member("amount"), e.Text(n, "currency")
	}

	// Use the digits of the number, because a double would round it.
	text := amount.String()
	if amount.Kind() == canon.KindNumber {
		text = string(amount.Raw())
	}

	m, ok := parseMoney(text)
	if !ok {
		e.Fail(event.CodePayload, n, "expected an amount from 0 to 10^%d with at most %d decimals", maxWhole, maxDecimals)
		return nil, ""
	}
	if currency != "" && (len(currency) != 3 || strings.Trim(currency, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
		e.Fail(event.CodePayload, n, "expected a currency of three capital letters")
	}

	return m, currency
}
