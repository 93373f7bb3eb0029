package headline

import "strconv"

// A Count is the number of distinct things that a receipt names.
type Count struct {
	N             int
	Recorded      bool // false if the receipt does not state any number
	AtLeast, Most bool // N is a lower or an upper bound
}

func countOf(t tally) Count {
	n, more := t.things()
	return Count{n, t.entries > 0 || !t.open, t.open || more, t.over}
}

// String returns the number in a few columns, with a sign if it is a bound, and - if it is not recorded.
func (c Count) String() string {
	sign := ""
	switch {
	case !c.Recorded:
		return "-"
	case c.AtLeast && c.Most:
		sign = "~"
	case c.AtLeast:
		sign = "≥"
	case c.Most:
		sign = "≤"
	}
	return sign + Group3(strconv.Itoa(c.N))
}
