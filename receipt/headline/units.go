package headline

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// Plural is a number with its noun, in the plural unless the number is 1, and a verb.
func Plural(n int, noun, verb string) string {
	text := fmt.Sprintf("%s %s", Group3(strconv.Itoa(n)), noun)
	if n != 1 {
		text += "s"
	}
	return strings.TrimSpace(text + " " + verb)
}

// Group3 separates the thousands of a plain decimal.
func Group3(s string) string {
	whole, fraction, _ := strings.Cut(s, ".")
	if strings.ContainsAny(s, "e-") || len(whole) < 4 {
		return s
	}

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

// Elapsed is the time from one instant to a later one in at most two units, such as
// 1 min 19 s. A time.Duration ends at 292 years, and Elapsed does not.
func Elapsed(from, to time.Time) string {
	seconds, rest := to.Unix()-from.Unix(), time.Duration(to.Nanosecond()-from.Nanosecond())
	if rest < 0 {
		seconds, rest = seconds-1, rest+time.Second
	}

	units := []struct {
		size int64
		name string
	}{{24 * 60 * 60, "d"}, {60 * 60, "h"}, {60, "min"}, {1, "s"}}

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

// sum is exact if all numbers are whole.
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
