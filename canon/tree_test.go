package canon

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"unicode/utf16"
)

// A tree is a randomly generated JSON value that can be formatted with many spellings.
type tree struct {
	kind  Kind
	text  string // literal
	float float64
	str   string
	names []string // of members
	kids  []tree
}

var someNames = []string{
	"", "a", "b", "aa", "A", "receipt_hash", "chain", "~", "/", "~1", "a/b", `"`, `\`, "\n", "\r", "\x00", "\x1f",
	"\x7f", "\u0080", "ÿ", "Ā", "é", "e\u0301", "€", "\u2028", "\ud7ff", "\ue000", "\ufb33", "\ufffd", "\ufffe", "\uffff",
	"\U00010000", "😀", "🎉", "\U0010ffff", "a😀", "a\ufb33", "0", "01", "-",
}

func randomTree(rng *rand.Rand, depth int) tree {
	kind := KindNull + Kind(rng.IntN(6))
	if depth == 0 && kind >= KindArray {
		kind = KindString
	}
	v := tree{kind: kind}
	switch kind {
	case KindNull:
		v.text = "null"
	case KindBool:
		v.text = strconv.FormatBool(rng.IntN(2) == 0)
	case KindNumber:
		v.float = randomFloat(rng)
	case KindString:
		v.str = randomString(rng)
	case KindArray:
		for range rng.IntN(6) {
			v.kids = append(v.kids, randomTree(rng, depth-1))
		}
	case KindObject:
		taken := map[string]bool{}
		for range rng.IntN(8) {
			if name := randomString(rng); !taken[name] {
				taken[name] = true
				v.names = append(v.names, name)
				v.kids = append(v.kids, randomTree(rng, depth-1))
			}
		}
	}
	return v
}

func randomFloat(rng *rand.Rand) float64 {
	switch rng.IntN(5) {
	case 0:
		return float64(rng.IntN(2000) - 1000)
	case 1:
		return float64(rng.Int64()) * float64(1-2*rng.IntN(2))
	case 2:
		return float64(rng.IntN(1_000_000)) / 100
	case 3:
		return math.Copysign(0, -1)
	default:
		for {
			if f := math.Float64frombits(rng.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
				return f
			}
		}
	}
}

func randomString(rng *rand.Rand) string {
	s := ""
	for range 1 + rng.IntN(3) {
		s += someNames[rng.IntN(len(someNames))]
	}
	return s
}

// A spelling specifies how to write a tree. The zero spelling is compact and keeps the order of
// members.
type spelling struct {
	space, shuffle, escape, number bool
}

func (s spelling) appendTree(b []byte, rng *rand.Rand, v tree) []byte {
	b = s.appendSpace(b, rng)
	switch v.kind {
	case KindNumber:
		b = s.appendNumber(b, rng, v.float)
	case KindString:
		b = s.appendString(b, rng, v.str)
	case KindArray:
		b = append(b, '[')
		for i, kid := range v.kids {
			if i > 0 {
				b = append(b, ',')
			}
			b = s.appendTree(b, rng, kid)
		}
		b = append(s.appendSpace(b, rng), ']')
	case KindObject:
		order := rng.Perm(len(v.kids))
		b = append(b, '{')
		for i := range v.kids {
			if i > 0 {
				b = append(b, ',')
			}
			j := i
			if s.shuffle {
				j = order[i]
			}
			b = s.appendString(s.appendSpace(b, rng), rng, v.names[j])
			b = append(s.appendSpace(b, rng), ':')
			b = s.appendTree(b, rng, v.kids[j])
		}
		b = append(s.appendSpace(b, rng), '}')
	default:
		b = append(b, v.text...)
	}
	return s.appendSpace(b, rng)
}

func (s spelling) appendSpace(b []byte, rng *rand.Rand) []byte {
	if s.space {
		for range rng.IntN(3) {
			b = append(b, " \n\r\t"[rng.IntN(4)])
		}
	}
	return b
}

func (s spelling) appendNumber(b []byte, rng *rand.Rand, f float64) []byte {
	if !s.number {
		return AppendFloat(b, f)
	}
	switch rng.IntN(4) {
	case 0:
		return strconv.AppendFloat(b, f, 'e', 20+rng.IntN(20), 64)
	case 1:
		return strconv.AppendFloat(b, f, 'E', -1, 64)
	case 2:
		return strconv.AppendFloat(b, f, 'f', -1, 64)
	default:
		return strconv.AppendFloat(b, f, 'g', 17, 64)
	}
}

func (s spelling) appendString(b []byte, rng *rand.Rand, text string) []byte {
	if !s.escape {
		return AppendString(b, text)
	}
	b = append(b, '"')
	for _, r := range text {
		switch {
		case r == '/' && rng.IntN(2) == 0:
			b = append(b, `\/`...)
		case r < 0x20 || r == '"' || r == '\\' || rng.IntN(2) == 0:
			for _, unit := range utf16.Encode([]rune{r}) {
				b = fmt.Appendf(b, []string{`\u%04x`, `\u%04X`}[rng.IntN(2)], unit)
			}
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}
