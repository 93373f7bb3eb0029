package bundle

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A value is a JSON value in the output, either from the document or created by this package. The
// zero value represents an absent value.
type value struct {
	node canon.Node
	made *made
}

// A made value is a string, a literal, a list, or an object that was created by this package.
// Values from a document are not copied.
type made struct {
	kind     canon.Kind
	text     string // the content of a string; otherwise, a number, true, false, or null as JSON text
	elements iter.Seq[value]
	members  []member
	entries  *[]Entry // elements of the list of removals, which may be long
}

type member struct {
	name  string
	value value
}

func of(n canon.Node) value { return value{node: n} }

func text(s string) value { return value{made: &made{kind: canon.KindString, text: s}} }

func literal(kind canon.Kind, s string) value { return value{made: &made{kind: kind, text: s}} }

func list(elements ...value) value { return listed(slices.Values(elements)) }

// listed returns a list that creates its elements on demand, because there may be many of them.
func listed(elements iter.Seq[value]) value {
	return value{made: &made{kind: canon.KindArray, elements: elements}}
}

// object returns an object with the given members, sorted by name; members without a value are
// omitted.
func object(members ...member) value {
	members = slices.DeleteFunc(members, func(m member) bool { return m.value.none() })
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return value{made: &made{kind: canon.KindObject, members: members}}
}

func (v value) none() bool { return v.made == nil && v.node.IsZero() }

func (v value) kind() canon.Kind {
	if v.made != nil {
		return v.made.kind
	}
	return v.node.Kind()
}

// content returns the content of a string value.
func (v value) content() []byte {
	if v.made == nil {
		return v.node.Text()
	}
	if v.made.kind != canon.KindString {
		return nil
	}
	return []byte(v.made.text)
}

// raw returns a number, true, false, or null as JSON text.
func (v value) raw() []byte {
	if v.made == nil {
		return v.node.Raw()
	}
	return []byte(v.made.text)
}

// member returns the value of the named member, or an absent value.
func (v value) member(name string) value {
	if v.made == nil {
		return of(v.node.Member(name))
	}
	for _, m := range v.made.members {
		if m.name == name {
			return m.value
		}
	}
	return value{}
}

// each yields the elements of a list, with their indexes.
func (v value) each(yield func(int, value) bool) {
	if v.made == nil {
		for i, n := range v.node.Elements() {
			if !yield(i, of(n)) {
				return
			}
		}
		return
	}
	if v.made.elements == nil {
		return
	}

	i := 0
	for e := range v.made.elements {
		if !yield(i, e) {
			return
		}
		i++
	}
}

// A pair is a member of an object, for iteration in order of name.
type pair struct {
	name  []byte
	value value
}

// appendPairs appends the members of an object, sorted by the bytes of their names.
func (v value) appendPairs(pairs []pair) []pair {
	if v.made != nil {
		for _, m := range v.made.members {
			pairs = append(pairs, pair{[]byte(m.name), m.value})
		}
		return pairs
	}

	// The document keeps members in source order.
	from := len(pairs)
	for name, n := range v.node.Members() {
		pairs = append(pairs, pair{name.Text(), of(n)})
	}
	byName := func(a, b pair) int { return bytes.Compare(a.name, b.name) }
	if own := pairs[from:]; !slices.IsSortedFunc(own, byName) {
		slices.SortFunc(own, byName)
	}
	return pairs
}

// child returns an element of a list, or an absent value.
func (v value) child(at int) value {
	for i, e := range v.each {
		if i == at {
			return e
		}
	}
	return value{}
}
