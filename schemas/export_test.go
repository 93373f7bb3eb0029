package schemas

import (
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/receiptkit/receiptkit/canon"
)

// The dialect and the loader of this package are exported for its tests.
const Draft = draft

type Embedded = embedded

func ID(n Name) string { return id(n) }

func Tree(text []byte) (any, error) { return parse(text) }

func CompileText(location string, text []byte, loader jsonschema.URLLoader) (*Schema, error) {
	library, err := compile(location, text, loader)
	if err != nil {
		return nil, err
	}
	return newSchema(text, func() (*jsonschema.Schema, error) { return library, nil })
}

// CheckCut is like Check, but cuts arrays after the given number of elements.
func (s *Schema) CheckCut(root canon.Node, elements int) Result {
	c := checker{base: root.Pointer(), elements: elements}
	c.check(s.library(), root, func() string { return "" })
	return c.result
}

// Accepts reports whether s accepts n without the library.
func Accepts(s *Schema, n canon.Node) bool { return s.accept != nil && s.accept.accepts(n) }

// CheckWhole checks a value with the library, without cutting arrays.
func (s *Schema) CheckWhole(root canon.Node) Result {
	c := checker{base: root.Pointer()}
	if err, ok := s.library().Validate(value(root)).(*jsonschema.ValidationError); ok {
		walk("", err, c.add)
	}
	return c.result
}
