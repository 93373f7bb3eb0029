package match

import "regexp/syntax"

// A sight is what must be seen after an anchor for a match. It decides in a
// moment what a regular expression needs a microsecond for.
type sight struct {
	skip   byteSet // only such bytes are before
	far    int     // and no more of them
	need   byteSet // one of these, of which none can be skipped;
	gap    byteSet // from there on only such bytes,
	within int     // at most so many, are before
	run    byteSet // bytes of which
	min    int     // there are at least so many
}

// maxSight is how far a sight goes, in bytes: its skip and its gap each.
const maxSight = 1024

// look returns what must be seen of parts, or nil when that is too little.
func look(parts []*syntax.Regexp) *sight {
	var s sight
	i, before := 0, size{}
	for ; i < len(parts) && measure(parts[i]).min == 0; i++ {
		s.skip.add(parts[i])
		before = before.then(measure(parts[i]))
	}

	// What can be skipped for long, or without end, is not looked past.
	if before.max < 0 || before.max > maxSight {
		return nil
	}
	s.far = before.max
	if i == len(parts) {
		return nil
	}

	// A byte that could also be skipped would not show that the needed one is there.
	s.need.addFirst(parts[i])
	for c := range s.need {
		if s.need[c] && s.skip[c] {
			return nil
		}
	}

	// Up to the first run of two bytes or more, all that can be between is a gap.
	for _, p := range parts[i:] {
		if p.Op == syntax.OpRepeat && p.Min >= 2 && measure(p.Sub[0]).min == 1 {
			s.min = p.Min
			s.run.add(p)
			break
		}
		n := measure(p).max
		if n < 0 || s.within+n > maxSight {
			break
		}
		s.gap.add(p)
		s.within += n
	}

	return &s
}

// behind reports whether it is there after a place of a text.
func (s *sight) behind(text []byte, at int) bool {
	for last := at + s.far; at == len(text) || !s.need[text[at]]; at++ {
		if at == len(text) || at == last || !s.skip[text[at]] {
			return false
		}
	}

	stray := false // a byte of this run cannot be before another one
	for n, last := 0, at+s.within; n < s.min; at++ {
		switch {
		case at == len(text) || n == 0 && at > last:
			return false
		case s.run[text[at]]:
			n++
			stray = stray || !s.gap[text[at]]
		case stray || !s.gap[text[at]]:
			return false
		default:
			n = 0
		}
	}

	return true
}
