package secret

import (
	"regexp/syntax"
)

// A reach bounds how far something goes in a text: some bytes, then as many as
// there are of a set, and again.
type reach []step

type step struct {
	n   int
	run *byteSet // nil: empty
}

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

// from returns where a reach from a place ends, or a later place that is not
// before least.
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
