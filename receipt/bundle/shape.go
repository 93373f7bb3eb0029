package bundle

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/schemas"
)

// A shape is the part of the bundle schema that describes one value. It is derived from the schema,
// which remains the only definition of the format. It can check values before they are written, and
// its errors quote no values.
type shape struct {
	types    []string // empty: any
	words    []string // allowed values of a string; nil allows any string
	nonEmpty bool
	least    float64
	most     float64

	required []string // in the order that the schema specifies
	names    []string
	members  map[string]*shape
	items    *shape
}

// newShape returns the shape of a bundle, which it derives from the schema.
func newShape() (*shape, error) {
	source, _ := schemas.Source("session-bundle")
	doc, err := canon.Parse(source)
	if err != nil {
		return nil, err
	}
	return shapeOf(doc.Root(), doc.Root().Member("$defs"))
}

// shapeOf converts a schema to a shape, and rejects keywords that the bundle schema does not use.
func shapeOf(n, defs canon.Node) (*shape, error) {
	s := &shape{least: math.Inf(-1), most: math.Inf(1), members: map[string]*shape{}}
	var err error
	for keyword, v := range n.Members() {
		switch keyword.String() {
		case "$schema", "$id", "$defs", "title", "description", "additionalProperties":
		case "$ref":
			name := strings.TrimPrefix(v.String(), "#/$defs/")
			return shapeOf(defs.Member(name), defs)
		case "type":
			s.types = texts(v)
		case "enum", "const":
			s.types, s.words = []string{"string"}, texts(v)
		case "minLength":
			s.nonEmpty = true
		case "minimum":
			s.least = v.Float()
		case "maximum":
			s.most = v.Float()
		case "required":
			s.required = texts(v)
		case "items":
			s.items, err = shapeOf(v, defs)
		case "properties":
			err = s.addMembers(v, defs)
		default:
			err = fmt.Errorf("bundle: the schema has the unsupported keyword %s", keyword.String())
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *shape) addMembers(n, defs canon.Node) error {
	for name, v := range n.Members() {
		m, err := shapeOf(v, defs)
		if err != nil {
			return err
		}
		s.names, s.members[name.String()] = append(s.names, name.String()), m
	}
	return nil
}

// texts returns the strings in a list, or the single string if n is not a list.
func texts(n canon.Node) (list []string) {
	if n.Kind() == canon.KindString {
		return []string{n.String()}
	}
	for _, e := range n.Elements() {
		list = append(list, e.String())
	}
	return list
}

// child returns the shape of a member or an element; nil allows any value.
func (s *shape) child(at step) *shape {
	switch {
	case s == nil:
		return nil
	case at.index >= 0:
		return s.items
	}
	return s.members[at.name]
}

// takesText reports whether any string is valid for the shape.
func (s *shape) takesText() bool {
	return s == nil || s.words == nil && (len(s.types) == 0 || slices.Contains(s.types, "string"))
}

// check returns the first fault in a value, in the order of the schema's members.
func (s *shape) check(v value, path []byte) *Error {
	if s == nil {
		return nil
	}
	if problem := s.checkType(v); problem != "" {
		return &Error{Malformed, string(path), problem}
	}

	for _, name := range s.required {
		if v.member(name).none() {
			return &Error{Kind: MissingRequired, Path: string(appendStep(path, step{name, -1}))}
		}
	}
	for _, name := range s.names {
		if m := v.member(name); !m.none() {
			if err := s.members[name].check(m, appendStep(path, step{name, -1})); err != nil {
				return err
			}
		}
	}

	// Elements are checked last. The order does not matter, because a value has either members or
	// elements.
	if s.items != nil && v.kind() == canon.KindArray {
		for i, e := range v.each {
			if err := s.items.check(e, appendStep(path, step{"", i})); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkType describes the requirement that the value itself violates, or returns "" if there is
// none.
func (s *shape) checkType(v value) string {
	if len(s.types) > 0 && !slices.ContainsFunc(s.types, func(t string) bool { return isType(v, t) }) {
		return "expected " + strings.Join(s.types, " or ") + ", found " + typeOf(v)
	}

	switch v.kind() {
	case canon.KindString:
		if s.nonEmpty && len(v.content()) == 0 {
			return "expected at least one character"
		}
		if s.words != nil && !slices.Contains(s.words, string(v.content())) {
			return "expected " + strings.Join(s.words, ", ")
		}
	case canon.KindNumber:
		switch f := number(v); {
		case f < s.least:
			return fmt.Sprintf("expected at least %v", s.least)
		case f > s.most:
			return fmt.Sprintf("expected at most %v", s.most)
		}
	}
	return ""
}

func isType(v value, name string) bool {
	if name == "integer" {
		f := number(v)
		return v.kind() == canon.KindNumber && f == math.Trunc(f)
	}
	return typeOf(v) == name
}

// number returns the numeric value of v.
func number(v value) float64 {
	if v.made != nil {
		doc, err := canon.Parse([]byte(v.made.text))
		if err != nil {
			return math.NaN()
		}
		return doc.Root().Float()
	}
	return v.node.Float()
}

func typeOf(v value) string {
	switch v.kind() {
	case canon.KindNull:
		return "null"
	case canon.KindBool:
		return "boolean"
	case canon.KindNumber:
		return "number"
	case canon.KindString:
		return "string"
	case canon.KindArray:
		return "array"
	case canon.KindObject:
		return "object"
	}
	return "nothing"
}
