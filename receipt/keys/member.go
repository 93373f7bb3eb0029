package keys

import (
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A member is a name and the JSON text of its value.
type member struct {
	name  string
	value []byte
}

func text(name, value string) member { return member{name, canon.AppendString(nil, value)} }

// otherMembers copies the members of an object that known does not name.
func otherMembers(object canon.Node, known ...string) []member {
	var others []member
	for name, value := range object.Members() {
		if !slices.Contains(known, name.String()) {
			others = append(others, member{name.String(), slices.Clone(value.Raw())})
		}
	}
	return others
}

func appendObject(dst []byte, members []member) []byte {
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(canon.AppendString(dst, m.name), ':')
		dst = append(dst, m.value...)
	}
	return append(dst, '}')
}

func appendStrings[S ~string](dst []byte, list []S) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = canon.AppendString(dst, string(s))
	}
	return append(dst, ']')
}

func sorted(members []member) []member {
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return members
}
