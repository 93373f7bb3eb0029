package record

import (
	"slices"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/schemas"
)

// A form describes the payload of a kind of events: the members that are read, and the values that
// each accepts. A nil Want accepts any value. Other members are ignored and counted.
type form map[string]event.Want

// forms returns the form of each kind of events whose payload is read. The schema of events is its
// source: it lists the kinds, their members, and the type of each member.
var forms = sync.OnceValue(func() map[string]form {
	text, _ := schemas.Source("event")
	doc, err := canon.Parse(text)
	if err != nil {
		panic(err) // the schema is a part of this module
	}

	s := eventSchema{doc.Root()}
	all := map[string]form{}
	for _, rule := range s.Member("allOf").Elements() {
		if !rule.Member("$comment").IsZero() { // a condition on kinds that have a form
			continue
		}
		_, payload := s.resolve(rule.Member("then").Member("properties").Member("payload"))
		f := form{}
		for name, member := range payload.Member("properties").Members() {
			f[name.String()] = s.want(member, false)
		}
		for _, kind := range kindsOf(rule) {
			all[kind] = f
		}
	}
	return all
})

// kindsOf returns the kinds to which a rule of the schema applies.
func kindsOf(rule canon.Node) (kinds []string) {
	of := rule.Member("if").Member("properties").Member("event")
	if one := of.Member("const"); !one.IsZero() {
		return []string{one.String()}
	}
	for _, kind := range of.Member("enum").Elements() {
		kinds = append(kinds, kind.String())
	}
	return kinds
}

// An eventSchema is the schema of events, read for the types of members. Its conditions, patterns,
// and bounds are not read: the functions that apply an event check what they need.
type eventSchema struct{ canon.Node }

// resolve returns the definition to which a $ref refers, and its name.
func (s eventSchema) resolve(n canon.Node) (name string, def canon.Node) {
	ref := n.Member("$ref")
	if ref.IsZero() {
		return "", n
	}
	name = strings.TrimPrefix(ref.String(), "#/$defs/")
	return name, s.Member("$defs").Member(name)
}

// want returns the values that a member accepts, or nil for any value. For members of the payload
// itself, the function that applies the event checks for empty names.
func (s eventSchema) want(n canon.Node, nested bool) event.Want {
	name, n := s.resolve(n)
	types := typesOf(n)
	switch {
	case name == "amount":
		return wantMoney
	case name == "actor":
		return event.WantActor
	case name == "digest":
		return event.WantDigest
	case name == "name" && nested:
		return event.WantName
	case n.Member("format").String() == "date-time":
		return event.WantTime
	case slices.Contains(types, "array"):
		return event.WantList(s.want(n.Member("items"), true))
	case slices.Contains(types, "object"):
		return s.wantObject(n)
	case slices.Contains(types, "integer"):
		return event.WantCount
	case slices.Contains(types, "boolean"):
		return event.WantFlag
	case slices.Contains(types, "string"), !n.Member("enum").IsZero():
		return event.WantText
	}
	return nil
}

// wantObject returns the values that an object accepts, including the members of the definitions
// that it extends.
func (s eventSchema) wantObject(n canon.Node) event.Want {
	members := map[string]event.Want{}
	var required []string
	add := func(n canon.Node) {
		for name, member := range n.Member("properties").Members() {
			members[name.String()] = s.want(member, true)
		}
		for _, name := range n.Member("required").Elements() {
			required = append(required, name.String())
		}
	}

	add(n)
	for _, of := range n.Member("allOf").Elements() {
		_, def := s.resolve(of)
		add(def)
	}
	return event.WantObject(members, required...)
}

// typesOf returns the types of values that a definition allows.
func typesOf(n canon.Node) (types []string) {
	of := n.Member("type")
	if of.Kind() == canon.KindString {
		return []string{of.String()}
	}
	for _, t := range of.Elements() {
		types = append(types, t.String())
	}
	return types
}
