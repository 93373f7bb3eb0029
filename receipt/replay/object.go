package replay

import (
	"maps"
	"slices"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
)

// An object contains members of a JSON object, each in canonical form. A member with a nil value is
// omitted. The names are ASCII.
type object map[string][]byte

// json returns the object in canonical form.
func (o object) json() []byte { return o.over(nil, canon.Node{}) }

// over appends an object from a canonical document to b. The members of o are added, and replace
// members with the same names. The result is also canonical: RFC 8785 section 3.2.3 sorts names by
// UTF-16 code units, which is the same as byte order if at least one of two compared names is
// ASCII.
func (o object) over(b []byte, n canon.Node) []byte {
	b = append(b, '{')
	begin := len(b)
	member := func(name string, value []byte) {
		if value == nil {
			return
		}
		if len(b) > begin {
			b = append(b, ',')
		}
		b = append(append(canon.AppendString(b, name), ':'), value...)
	}

	// Both lists of names are sorted, so they can be merged.
	own := slices.Sorted(maps.Keys(o))
	for name, value := range n.Members() {
		text := name.String()
		for len(own) > 0 && own[0] < text {
			member(own[0], o[own[0]])
			own = own[1:]
		}
		if len(own) == 0 || own[0] != text {
			member(text, value.Raw())
		}
	}
	for _, name := range own {
		member(name, o[name])
	}
	return append(b, '}')
}

func text(s string) []byte { return canon.AppendString(nil, s) }

func number(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }
