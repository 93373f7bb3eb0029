package archive_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// TestRandom verifies item 268 for random documents with every kind of value.
func TestRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(8949, 268))
	c, o := archive.NewCodec(), newOracle()
	kinds := map[canon.Kind]int{}
	documents := testsize.Of(3_000, 10_000)
	for i := range documents {
		g := generator{rng: rng, budget: 60}
		g.value(1 + rng.IntN(8))
		doc := parse(t, g.text)
		count(kinds, doc.Root())
		if roundTrip(t, c, o, doc, string(g.text)); t.Failed() {
			t.Fatalf("document %d: %.1000s", i, g.text)
		}
	}
	for kind := canon.KindNull; kind <= canon.KindObject; kind++ {
		if kinds[kind] < documents/2 {
			t.Errorf("only %d values of kind %d", kinds[kind], kind)
		}
	}
}

func count(kinds map[canon.Kind]int, n canon.Node) {
	kinds[n.Kind()]++
	for _, e := range n.Elements() {
		count(kinds, e)
	}
	for _, m := range n.Members() {
		count(kinds, m)
	}
}

// A generator writes random JSON with random spelling.
type generator struct {
	rng    *rand.Rand
	text   []byte
	budget int // number of values that may still be written
}

func (g *generator) value(depth int) {
	g.budget--
	kind := g.rng.IntN(10)
	if depth == 0 || g.budget <= 0 {
		kind = g.rng.IntN(6)
	}
	switch kind {
	case 0:
		g.add("null")
	case 1:
		g.add([]string{"true", "false"}[g.rng.IntN(2)])
	case 2, 3:
		g.number()
	case 4, 5:
		g.string(g.rng.IntN(40))
	case 6, 7:
		g.array(depth)
	default:
		g.object(depth)
	}
}

func (g *generator) add(text string) {
	if g.rng.IntN(8) == 0 {
		g.text = append(g.text, " \t\r\n"[g.rng.IntN(4)])
	}
	g.text = append(g.text, text...)
}

// number writes an integer of any size, a boundary value, or a float that needs 16, 32, or 64 bits.
func (g *generator) number() {
	sign := []string{"", "-"}[g.rng.IntN(2)]
	var f float64
	switch g.rng.IntN(6) {
	case 0:
		f = float64(g.rng.Uint64() >> (11 + g.rng.IntN(53)))
	case 1:
		f = float64(g.rng.Uint64N(1<<11)) / float64(uint(1)<<g.rng.IntN(24))
	case 2:
		f = float64(math.Float32frombits(g.rng.Uint32()))
	case 3:
		f = math.Float64frombits(g.rng.Uint64())
	case 4:
		f = float64(g.rng.IntN(100_000)) / 100
	default:
		f = []float64{0, 0.1, 1<<53 - 1, 23, 24, 255, 256, 65535, 65536, 1 << 32, 1<<32 - 1, 5e-324, 0x1p-24, 0x1p-25, 0x1p-149, 1023.5}[g.rng.IntN(16)]
	}
	if f = math.Abs(f); math.IsNaN(f) || f > maxSafe {
		f = 0.5
	}
	format := []byte{'g', 'e', 'f'}[g.rng.IntN(3)]
	if f != 0 && f < 1e-30 {
		format = 'e'
	}
	g.add(sign + strconv.FormatFloat(f, format, -1, 64))
}

// string writes a string of about n characters.
func (g *generator) string(n int) {
	b := []byte{}
	for range n {
		b = g.character(b)
	}
	g.text = append(append(append(g.text, '"'), b...), '"')
}

func (g *generator) character(b []byte) []byte {
	switch g.rng.IntN(12) {
	case 0:
		return append(b, []string{`\"`, `\\`, `\/`, `\b`, `\u0000`, `\u001f`, `\u00e9`, `\uD83D\uDE00`, `\uffff`}[g.rng.IntN(9)]...)
	case 1:
		r := rune(g.rng.IntN(utf8.MaxRune + 1))
		if !utf8.ValidRune(r) || r < 0x20 || r == '"' || r == '\\' {
			r = 'é'
		}
		return utf8.AppendRune(b, r)
	}
	return append(b, 'a'+byte(g.rng.IntN(26)))
}

func (g *generator) array(depth int) {
	g.add("[")
	for i := range g.length() {
		if i > 0 {
			g.add(",")
		}
		g.value(depth - 1)
	}
	g.add("]")
}

// object writes members with distinct names of up to about 300 bytes. Each name ends with the index
// of the member.
func (g *generator) object(depth int) {
	g.add("{")
	for i := range g.length() {
		if i > 0 {
			g.add(",")
		}
		g.name(i)
		g.add(":")
		g.value(depth - 1)
	}
	g.add("}")
}

func (g *generator) name(i int) {
	length := g.rng.IntN(4)
	if g.rng.IntN(20) == 0 {
		length = g.rng.IntN(300)
	}
	if i == 0 && length == 0 {
		g.text = append(g.text, '"', '"')
		return
	}
	g.string(length)
	g.text[len(g.text)-1] = '#' // replaces the closing quote
	g.text = append(strconv.AppendInt(g.text, int64(i), 10), '"')
}

func (g *generator) length() int {
	if g.rng.IntN(30) == 0 {
		return 24 + g.rng.IntN(10)
	}
	return g.rng.IntN(6)
}
