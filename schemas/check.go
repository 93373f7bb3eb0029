package schemas

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/receiptkit/receiptkit/canon"
)

const (
	// MaxProblems is how many problems of a document are told; more are counted.
	MaxProblems = 20

	// maxTotal is when counting may stop: nobody repairs ten thousand places.
	maxTotal = 10_000
)

// A Result is what [Schema.Check] found. A Total of 0 means that the document
// fits.
type Result struct {
	Problems []Problem // the first MaxProblems, by pointer and keyword
	Total    int       // how many there are; exact up to 10,000
}

// Check checks a parsed value and everything in it. Pointers are relative to
// that value.
//
// Time and memory are linear in the document. It may be nested as deeply as
// package canon allows. An ordinary document that fits costs no memory.
func (s *Schema) Check(root canon.Node) Result {
	if s.accept != nil && s.accept.accepts(root) {
		return Result{}
	}
	return s.Reference(root)
}

// Reference is Check by the library alone. It exists to cross-check [Schema.Check].
func (s *Schema) Reference(root canon.Node) Result {
	if root.IsZero() {
		return Result{[]Problem{{Keyword: "type", Detail: "expected a document, found none"}}, 1}
	}
	c := checker{base: root.Pointer(), elements: maxElements}
	c.check(s.compiled, root, func() string { return "" })
	return c.result
}

type checker struct {
	result   Result
	base     string // pointer of the checked value
	elements int    // elements to check in one go
}

// check checks n, and then the elements that were cut from it. At is n's
// pointer.
func (c *checker) check(s *jsonschema.Schema, n canon.Node, at func() string) {
	b := builder{left: c.elements}
	if err, ok := s.Validate(b.value(n, s)).(*jsonschema.ValidationError); ok {
		for p := range problems(at(), err) {
			c.add(p)
		}
	}

	// What was cut off is checked element by element, and may be cut again.
	for _, rest := range b.cuts {
		for i, e := range rest.array.Elements() {
			if c.result.Total >= maxTotal {
				return
			}
			if i >= rest.from {
				c.check(rest.items, e, func() string {
					return c.pointer(rest.array) + "/" + strconv.Itoa(i)
				})
			}
		}
	}
}

func (c *checker) pointer(n canon.Node) string { return strings.TrimPrefix(n.Pointer(), c.base) }

// add counts p and keeps it when it is among the first. Two branches of a schema
// may find the same problem, which is one.
func (c *checker) add(p Problem) {
	kept := c.result.Problems
	i, found := slices.BinarySearchFunc(kept, p, compare)
	if found {
		return
	}
	c.result.Total++
	if i == MaxProblems {
		return
	}
	kept = slices.Insert(kept, i, p)
	c.result.Problems = kept[:min(len(kept), MaxProblems)]
}

func compare(a, b Problem) int {
	return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Keyword, b.Keyword), cmp.Compare(a.Detail, b.Detail))
}
