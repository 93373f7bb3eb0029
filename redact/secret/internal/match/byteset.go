package match

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

type byteSet [256]bool

// add adds all bytes that can occur in a match of re.
func (b *byteSet) add(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			b.addRange(r, r)
			if re.Flags&syntax.FoldCase != 0 {
				for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
					b.addRange(other, other)
				}
			}
		}
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			b.addRange(re.Rune[i], re.Rune[i+1])
		}
	case syntax.OpAnyChar:
		b.addRange(0, unicode.MaxRune)
	case syntax.OpAnyCharNotNL:
		b.addRange(0, '\n'-1)
		b.addRange('\n'+1, unicode.MaxRune)
	}

	for _, sub := range re.Sub {
		b.add(sub)
	}
}

func (b *byteSet) addRange(lo, hi rune) {
	for r := lo; r <= hi && r < utf8.RuneSelf; r++ {
		b[r] = true
	}
	if hi >= utf8.RuneSelf {
		for i := utf8.RuneSelf; i < len(b); i++ {
			b[i] = true
		}
	}
}

// addFirst adds all bytes with which a match of re can begin.
func (b *byteSet) addFirst(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		first := *re
		first.Rune = re.Rune[:1]
		b.add(&first)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if b.addFirst(sub); measure(sub).min > 0 {
				return
			}
		}
	case syntax.OpCapture, syntax.OpAlternate, syntax.OpQuest, syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		for _, sub := range re.Sub {
			b.addFirst(sub)
		}
	default:
		b.add(re)
	}
}
