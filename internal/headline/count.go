package headline

import "strconv"

// A Count is the number of distinct objects that a receipt names.
type Count struct {
	N             int
	Recorded      bool // false if the receipt states no number
	AtLeast, Most bool // N is a lower or an upper bound
}

func countOf(t tally) Count {
	n, more := t.things()
	return Count{n, t.entries > 0 || !t.open, t.open || more, t.over}
}

// String returns the number in compact form, with a sign if the number is a bound. If the number is
// not recorded, it returns "-".
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
