package match

import "regexp/syntax"

// A sight is a quick test of the bytes that follow an anchor; every match passes it. It avoids
// running a regular expression, which takes a microsecond.
type sight struct {
	skip   byteSet // only these bytes precede the needed byte
	far    int     // and at most this many of them
	need   byteSet // then one of these, none of which is in skip;
	gap    byteSet // from there on, only these bytes precede the run,
	within int     // and at most this many of them
	run    byteSet // a run of these bytes,
	min    int     // of at least this length
}

// maxSight is the maximum length of skip and of gap, in bytes.
const maxSight = 1024

// look returns the test for parts, or nil if the test would check too little.
func look(parts []*syntax.Regexp) *sight {
	var s sight
	i, before := 0, size{}
	for ; i < len(parts) && measure(parts[i]).min == 0; i++ {
		s.skip.add(parts[i])
		before = before.then(measure(parts[i]))
	}

	// A long or unbounded part that can be skipped ends the test.
	if before.max < 0 || before.max > maxSight {
		return nil
	}
	s.far = before.max
	if i == len(parts) {
		return nil
	}

	// If a required byte could also be skipped, finding it would not show that the required byte is
	// present.
	s.need.addFirst(parts[i])
	for c := range s.need {
		if s.need[c] && s.skip[c] {
			return nil
		}
	}

	// Up to the first run of two or more bytes, everything is part of the gap.
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

// behind reports whether the text from a given position on passes the test.
func (s *sight) behind(text []byte, at int) bool {
	for last := at + s.far; at == len(text) || !s.need[text[at]]; at++ {
		if at == len(text) || at == last || !s.skip[text[at]] {
			return false
		}
	}

	stray := false // a byte of this run cannot precede another run
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
