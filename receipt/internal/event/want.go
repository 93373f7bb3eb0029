package event

import "github.com/receiptkit/receiptkit/canon"

// A Want checks the value of a member, and refuses the event if the value is not acceptable. Null
// is treated as a missing member, and is always acceptable.
type Want func(*Event, canon.Node)

// WantText accepts a string of at most MaxText bytes.
func WantText(e *Event, n canon.Node) { e.isText(n) }

// WantName accepts a nonempty string.
func WantName(e *Event, n canon.Node) {
	if e.isText(n) && len(n.Text()) == 0 {
		e.Fail(CodePayload, n, "expected a non-empty string")
	}
}

// WantFlag accepts a boolean.
func WantFlag(e *Event, n canon.Node) { e.isFlag(n) }

// WantCount accepts an integer from 0 to 2^53−1.
func WantCount(e *Event, n canon.Node) { e.isCount(n) }

// WantTime accepts an RFC 3339 date-time.
func WantTime(e *Event, n canon.Node) { e.timeOf(n) }

// WantDigest accepts a SHA-256 digest.
func WantDigest(e *Event, n canon.Node) { e.digestOf(n) }

// WantActor accepts a string or an object with an id.
func WantActor(e *Event, n canon.Node) {
	switch n.Kind() {
	case canon.KindInvalid, canon.KindNull:
	case canon.KindObject:
		e.isText(n.Member("id"))
	case canon.KindString:
		e.isText(n)
	default:
		e.Fail(CodePayload, n, "expected a string or an object with an id")
	}
}

// WantObject accepts an object whose listed members have acceptable values and whose required
// members are present. Members that are not listed may have any value.
func WantObject(members map[string]Want, required ...string) Want {
	return func(e *Event, n canon.Node) {
		switch {
		case Absent(n):
			return
		case n.Kind() != canon.KindObject:
			e.Fail(CodePayload, n, "expected an object")
			return
		}

		for _, name := range required {
			if Absent(n.Member(name)) {
				e.Fail(CodePayload, n, "the member %s is missing or empty", name)
			}
		}
		for name, value := range n.Members() {
			if want := members[string(name.Text())]; want != nil {
				want(e, value)
			}
		}
	}
}

// WantList accepts an array without nulls whose elements are acceptable.
func WantList(of Want) Want {
	return func(e *Event, n canon.Node) {
		switch {
		case Absent(n):
			return
		case n.Kind() != canon.KindArray:
			e.Fail(CodePayload, n, "expected an array")
			return
		}

		for _, element := range n.Elements() {
			if of(e, element); Absent(element) {
				e.Fail(CodePayload, element, "expected no null in the array")
			}
			if e.Err != nil {
				return
			}
		}
	}
}
