package redact

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// A reach bounds how far something goes in a text: some bytes, then as many as
// there are of a set, and again.
type reach []step

type step struct {
	n   int
	run *byteSet // nil: empty
}

type byteSet [256]bool

// maxLaps is up to how many repetitions a step counts; more of them are as many
// as there are.
const maxLaps = 16

// reachOf bounds how far a match of a pattern goes.
func reachOf(re *syntax.Regexp) reach {
	if s := measure(re); s.max >= 0 {
		return reach{{n: s.max}}
	}

	var r reach
	switch re.Op {
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			r = append(r, reachOf(sub)...)
		}
		return r
	case syntax.OpRepeat:
		if re.Max >= 0 && re.Max <= maxLaps {
			for range re.Max {
				r = append(r, reachOf(re.Sub[0])...)
			}
			return r
		}
	}

	// Whatever else has no bound goes on for as long as bytes of it follow.
	var set byteSet
	set.add(re)
	return reach{{run: &set}}
}

// tidy joins steps.
func (r reach) tidy() reach {
	var list reach
	for _, s := range r {
		if n := len(list); n > 0 && list[n-1].run == nil {
			list[n-1].n += s.n
			list[n-1].run = s.run
		} else {
			list = append(list, s)
		}
	}
	return list
}

// add adds the bytes that can occur in a match.
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

// addFirst adds the bytes that a match can begin with.
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
