package match

import "regexp/syntax"

// A sight is a quick test of the bytes after an anchor. Every match passes this test. If the test
// fails, the regular expression, which would take a microsecond, is not needed.
type sight struct {
	skip   byteSet // bytes that may precede the needed byte
	far    int     // maximum number of bytes before the needed byte
	need   byteSet // one of these bytes must follow; none of them is in skip
	gap    byteSet // bytes that may precede the run
	within int     // maximum number of bytes before the run
	run    byteSet // the set of bytes in the run
	min    int     // minimum length of the run
}

// maxSight is the maximum number of bytes that skip and gap may cover.
const maxSight = 1024

// look returns the sight for parts, or nil if it would test too little.
func look(parts []*syntax.Regexp) *sight {
	var s sight
	i, before := 0, size{}
	for ; i < len(parts) && measure(parts[i]).min == 0; i++ {
		s.skip.add(parts[i])
		before = before.then(measure(parts[i]))
	}

	// If the optional parts before the required byte can be too long, there is no test.
	if before.max < 0 || before.max > maxSight {
		return nil
	}
	s.far = before.max
	if i == len(parts) {
		return nil
	}

	// If a required byte is also in skip, finding that byte is not sufficient.
	s.need.addFirst(parts[i])
	for c := range s.need {
		if s.need[c] && s.skip[c] {
			return nil
		}
	}

	// All parts before the first run of two or more bytes belong to the gap.
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

// behind reports whether the text after the given position passes the test.
func (s *sight) behind(text []byte, at int) bool {
	for last := at + s.far; at == len(text) || !s.need[text[at]]; at++ {
		if at == len(text) || at == last || !s.skip[text[at]] {
			return false
		}
	}

	stray := false // the run contains a byte outside gap, so no other run can follow
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
