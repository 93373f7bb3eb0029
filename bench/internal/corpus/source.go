package corpus

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A source supplies the random values of one receipt. Only integers are drawn from it, so that
// floating-point arithmetic does not affect the bytes.
type source struct{ *rand.Rand }

func newSource(seed uint64, n int) source {
	return source{rand.New(rand.NewPCG(seed, uint64(n)))}
}

// size draws the size of a receipt: a quarter of them are below 4.5 KB, half below 8, and three
// quarters below 14. The canonical form is a little shorter, because 2.0 becomes 2.
func (s source) size() int {
	quartiles := [...]int{LeastBytes + 60, 4_500, 8_000, 14_000, MostBytes}
	q := s.IntN(len(quartiles) - 1)
	return quartiles[q] + s.IntN(quartiles[q+1]-quartiles[q])
}

func (s source) hex(bytes int) string {
	b := make([]byte, bytes)
	for i := range b {
		b[i] = byte(s.Uint32())
	}
	return hex.EncodeToString(b)
}

func (s source) digest() string        { return "sha256:" + s.hex(32) }
func (s source) id(kind string) string { return kind + "_" + strings.ToUpper(s.hex(13)) }

// shortID returns an ID that is ten bytes shorter.
func (s source) shortID(kind string) string { return kind + "_" + strings.ToUpper(s.hex(8)) }

func (s source) one(of ...string) string { return of[s.IntN(len(of))] }

// amount returns an amount of money with four decimals, as many producers write it.
func (s source) amount() string {
	return fmt.Sprintf("%d.%04d", s.IntN(3), s.IntN(10_000))
}

// issued returns the time of issue of receipt n: about one every three seconds, from the date in
// the name of the format.
func (s source) issued(n int) time.Time {
	first := time.Date(2026, 4, 25, 0, 0, 0, 0, time.UTC)
	return first.Add(time.Duration(3*n+s.IntN(3)) * time.Second)
}

// before returns a time up to the given number of seconds before t.
func (s source) before(t time.Time, seconds int) time.Time {
	return t.Add(-time.Duration(s.IntN(seconds+1)) * time.Second)
}

// word usually returns a plain word, and occasionally one that needs escapes or is not ASCII.
func (s source) word() string {
	if s.IntN(11) > 0 {
		return s.one("review", "the", "patch", "opened", "pull", "request", "within", "budget", "latency", "of",
			"model", "refactored", "tests", "passed")
	}
	return s.one("line\nbreak", `"quoted"`, `C:\path`, "größer", "最終", "😀", "tab\there", "R&D")
}

func (s source) text(words int) string {
	picked := make([]string, words)
	for i := range picked {
		picked[i] = s.word()
	}
	return strings.Join(picked, " ")
}

// fill returns words that take at most the given number of bytes in JSON, and few less.
func (s source) fill(bytes int) string {
	text := "note"
	for {
		longer := text + " " + s.word()
		if len(quote(longer)) > bytes {
			return text
		}
		text = longer
	}
}

// quote returns a string as encoding/json writes it: \u0026 for & and so on.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // every string can be encoded
	}
	return string(b)
}

func stamp(t time.Time) string { return t.Format(time.RFC3339) }
