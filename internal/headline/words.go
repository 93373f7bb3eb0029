package headline

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// Words are the parts of a sentence. The parts with odd indexes are values from the receipt, which
// may be hostile. All other parts are constants.
type Words []string

// String returns the sentence. The caller must escape it.
func (w Words) String() string { return strings.Join(w, "") }

// add appends constant words.
func (w Words) add(text ...string) Words {
	if len(w)%2 == 0 {
		w = append(w, "")
	}
	w[len(w)-1] += strings.Join(text, "")
	return w
}

// quote appends a value from the receipt, and limits its length.
func (w Words) quote(n canon.Node) Words {
	const most = 300
	text := "(absent)"
	switch n.Kind() {
	case canon.KindInvalid:
	case canon.KindString:
		text = untrusted.Cut(n.Text(), most)
	default:
		text = untrusted.Cut(n.AppendCanonical(nil), most)
	}
	return append(w.add(), text)
}

// value appends untrusted text, and limits its length.
func (w Words) value(text string) Words {
	if text == "" {
		return w
	}
	return append(w.add(), untrusted.Cut(text, 300))
}

// named appends the name of an object. If name is empty, named appends the phrase in otherwise.
func (w Words) named(name, otherwise string) Words {
	if name == "" {
		return w.add(otherwise)
	}
	return append(w.add(), untrusted.Cut(name, maxName))
}

// join appends the parts of other.
func (w Words) join(other Words) Words {
	for i, text := range other {
		if i%2 == 0 {
			w = w.add(text)
		} else {
			w = append(w.add(), text)
		}
	}
	return w
}

// Plural returns a number with its noun and a verb. The noun is in the plural unless the number is
// 1.
func Plural(n int, noun, verb string) string {
	text := fmt.Sprintf("%s %s", Group3(strconv.Itoa(n)), noun)
	if n != 1 {
		text += "s"
	}
	return strings.TrimSpace(text + " " + verb)
}

// Group3 inserts thousands separators into a plain decimal.
func Group3(s string) string {
	whole, fraction, _ := strings.Cut(s, ".")
	if strings.ContainsAny(s, "e-") || len(whole) < 4 {
		return s
	}

	// Digits are grouped from the decimal point to the left. The digits of the fraction are not
	// grouped.
	var b strings.Builder
	for i := range len(whole) {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(whole[i])
	}

	if fraction != "" {
		b.WriteString("." + fraction)
	}

	return b.String()
}

// Elapsed returns the time between two instants in at most two units, such as "1 min 19 s". Unlike
// a time.Duration, the elapsed time may exceed 292 years.
func Elapsed(from, to time.Time) string {
	seconds, rest := to.Unix()-from.Unix(), time.Duration(to.Nanosecond()-from.Nanosecond())
	if rest < 0 {
		seconds, rest = seconds-1, rest+time.Second
	}

	units := []struct {
		size int64
		name string
	}{{24 * 60 * 60, "d"}, {60 * 60, "h"}, {60, "min"}, {1, "s"}}

	// At most two units are printed, the largest first.
	var parts []string
	for _, u := range units {
		if n := seconds / u.size; n > 0 && len(parts) < 2 {
			parts = append(parts, fmt.Sprintf("%d %s", n, u.name))
			seconds -= n * u.size
		}
	}

	switch {
	case len(parts) > 0:
		return strings.Join(parts, " ")
	case rest == 0:
		return "0 s"
	}

	return fmt.Sprintf("%d ms", rest.Milliseconds())
}

// sum returns the formatted sum of numbers, which is exact if all of them are integers.
func sum(numbers []float64) string {
	about, exact, whole := 0.0, new(big.Int), true
	for _, n := range numbers {
		i, accuracy := big.NewFloat(n).Int(nil)
		exact.Add(exact, i)
		about, whole = about+n, whole && accuracy == big.Exact
	}
	if whole {
		return exact.String()
	}
	return strconv.FormatFloat(about, 'f', -1, 64)
}

// Fault returns a short name for the fault that a cause describes, such as "missing predecessor".
// The name is for a line that otherwise contains only the code. If the code is sufficient, Fault
// returns "".
func Fault(cause receipt.Cause) string {
	switch cause {
	case "predecessor_missing":
		return "missing predecessor"
	case "predecessor_other", "predecessor_not_given":
		return "another predecessor"
	case "predecessor_elsewhere":
		return "link into another stream"
	case "second_first":
		return "two beginnings"
	case "predecessor_later", "comes_earlier", "named_earlier":
		return "wrong order"
	case "zero_hash":
		return "no predecessor named"
	}

	return ""
}
