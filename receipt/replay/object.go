package replay

import (
	"maps"
	"slices"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
)

// An object is members of a JSON object, by name; nil values are left out.
type object map[string][]byte

// json writes the object.
func (o object) json() []byte { return o.over(canon.Node{}) }

// over writes another object with these members in the place of its own.
func (o object) over(n canon.Node) []byte {
	b := []byte{'{'}
	member := func(name string, value []byte) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(canon.AppendString(b, name), ':'), value...)
	}

	for name, value := range n.Members() {
		if _, own := o[name.String()]; !own {
			member(name.String(), value.Raw())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if o[name] != nil {
			member(name, o[name])
		}
	}
	return append(b, '}')
}

func text(s string) []byte { return canon.AppendString(nil, s) }

func number(n int) []byte { return strconv.AppendInt(nil, int64(n), 10) }
