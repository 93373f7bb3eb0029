package match

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// A size is the range of lengths, in bytes, of the strings that a pattern matches.
type size struct {
	min, max int // -1 if there is no maximum
}

// measure returns the size of the matches of a pattern.
func measure(re *syntax.Regexp) size {
	switch re.Op {
	case syntax.OpLiteral:
		return measureLiteral(re)

	case syntax.OpCharClass:
		if len(re.Rune) == 0 {
			return size{1, 1} // matches nothing
		}
		s := runeSize(re.Rune[0], re.Rune[1])
		for i := 2; i < len(re.Rune); i += 2 {
			s = s.or(runeSize(re.Rune[i], re.Rune[i+1]))
		}
		return s

	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return size{1, utf8.UTFMax}
	case syntax.OpNoMatch:
		return size{1, 1}
	case syntax.OpCapture:
		return measure(re.Sub[0])
	case syntax.OpQuest:
		return measure(re.Sub[0]).or(size{})

	// The size of an unbounded repetition has no maximum.
	case syntax.OpStar:
		return size{0, -1}
	case syntax.OpPlus:
		return size{measure(re.Sub[0]).min, -1}
	case syntax.OpRepeat:
		s := measure(re.Sub[0])
		if s.min *= re.Min; re.Max < 0 || s.max < 0 {
			return size{s.min, -1}
		}
		return size{s.min, s.max * re.Max}

	case syntax.OpConcat:
		var s size
		for _, sub := range re.Sub {
			s = s.then(measure(sub))
		}
		return s

	case syntax.OpAlternate:
		s := measure(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			s = s.or(measure(sub))
		}
		return s
	}
	return size{} // asserts something
}

// measureLiteral returns the size of the matches of a literal. If the literal ignores case, the
// variants of a letter may differ in length; for example, the Kelvin sign has three bytes and k has
// one byte.
func measureLiteral(re *syntax.Regexp) (s size) {
	for _, r := range re.Rune {
		one := runeSize(r, r)
		if re.Flags&syntax.FoldCase != 0 {
			for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
				one = one.or(runeSize(other, other))
			}
		}
		s = s.then(one)
	}
	return s
}

func (s size) then(t size) size {
	if s.max < 0 || t.max < 0 {
		return size{s.min + t.min, -1}
	}
	return size{s.min + t.min, s.max + t.max}
}

func (s size) or(t size) size {
	if s.max < 0 || t.max < 0 {
		return size{min(s.min, t.min), -1}
	}
	return size{min(s.min, t.min), max(s.max, t.max)}
}

// runeSize returns the size of the encoded runes in a range. A byte that is not valid UTF-8 is read
// as U+FFFD.
func runeSize(lo, hi rune) size {
	s := size{utf8.RuneLen(lo), utf8.RuneLen(hi)}
	if lo <= utf8.RuneError && utf8.RuneError <= hi || s.min < 0 {
		s.min = 1
	}
	if s.max < 0 {
		s.max = utf8.UTFMax
	}
	return s
}

// A reach limits how far a match extends, as a sequence of steps: a number of bytes, then a run of
// bytes from a set, and so on.
type reach []step

type step struct {
	n   int
	run *byteSet // nil: empty
}

// maxLaps is the maximum number of repetitions that are expanded. A higher number of repetitions is
// treated as unbounded.
const maxLaps = 16

// reachOf returns a limit on how far the matches of a pattern extend.
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

	// The length of any other unbounded part is limited only by the set of bytes that can occur in
	// it.
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

// from returns the end of the reach that starts at the given position; the result is never less
// than least.
func (r reach) from(text []byte, at, least int) int {
	at = max(at, least)
	for _, s := range r {
		if at += s.n; at >= len(text) {
			return len(text)
		}
		for s.run != nil && at < len(text) && s.run[text[at]] {
			at++
		}
	}
	return at
}
