package corpus

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A source gives what one receipt is made of. Only integers are drawn from it,
// so that no floating-point unit has a say in the bytes.
type source struct{ *rand.Rand }

func newSource(seed uint64, n int) source {
	return source{rand.New(rand.NewPCG(seed, uint64(n)))}
}

// size draws the size of a receipt: a quarter of them are below 4.5 KB, half
// below 8, three quarters below 14. The canonical form is a little shorter, as
// 2.0 becomes 2.
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

// shortID is an id that costs ten bytes less.
func (s source) shortID(kind string) string { return kind + "_" + strings.ToUpper(s.hex(8)) }

func (s source) one(of ...string) string { return of[s.IntN(len(of))] }

// amount is money, written with four digits as many producers do.
func (s source) amount() string {
	return fmt.Sprintf("%d.%04d", s.IntN(3), s.IntN(10_000))
}

// issued is when receipt n was written: one every three seconds or so, from the
// day on after which the format is named.
func (s source) issued(n int) time.Time {
	first := time.Date(2026, 4, 25, 0, 0, 0, 0, time.UTC)
	return first.Add(time.Duration(3*n+s.IntN(3)) * time.Second)
}

// before returns a time up to so many seconds before t.
func (s source) before(t time.Time, seconds int) time.Time {
	return t.Add(-time.Duration(s.IntN(seconds+1)) * time.Second)
}

// word returns a plain word mostly, now and then one with what has to be escaped
// or is no ASCII.
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

// fill returns words that take no more than so many bytes in JSON, and few less.
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

// quote writes a string as encoding/json does: \u0026 for & and so on.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // there is no string that cannot be written
	}
	return string(b)
}

func stamp(t time.Time) string { return t.Format(time.RFC3339) }
