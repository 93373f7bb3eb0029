package bridge

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
)

// A ShapeError says that a message has not the form that its method has.
type ShapeError struct{ Method, Expected string }

func (e *ShapeError) Error() string { return fmt.Sprintf("%s: expected %s", e.Method, e.Expected) }

func shapeError(method, expected string) error { return &ShapeError{method, expected} }

// list finds an array in the forms in which hosts give one: alone, under one of these
// names, or that within a result.
func list(of canon.Node, names ...string) (canon.Node, bool) {
	for _, at := range [...]canon.Node{of, of.Member("result")} {
		if at.Kind() == canon.KindArray {
			return at, true
		}
		for _, name := range names {
			if n := at.Member(name); n.Kind() == canon.KindArray {
				return n, true
			}
		}
	}
	return canon.Node{}, false
}

// text reads a string; anything else is none.
func text(n canon.Node) string {
	if n.Kind() != canon.KindString {
		return ""
	}
	return n.String()
}

// texts reads an array of strings. What is none in it is left out.
func texts(n canon.Node) (all []string) {
	for _, each := range n.Elements() {
		if each.Kind() == canon.KindString {
			all = append(all, each.String())
		}
	}
	return all
}
