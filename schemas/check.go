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
	// MaxProblems is the maximum number of problems that a Result lists. Further problems are only
	// counted.
	MaxProblems = 20

	// maxTotal is the number of problems after which counting may stop, because nobody will fix ten
	// thousand problems one by one.
	maxTotal = 10_000
)

// A Result is the result of checking a document with [Schema.Check]. If Total is 0, the document
// matches the schema.
type Result struct {
	Problems []Problem // the first MaxProblems problems, sorted by pointer and keyword
	Total    int       // number of problems, which is exact up to 10,000
}

// Check checks a parsed value, including all values that it contains. Pointers in the result are
// relative to that value.
//
// Time and memory are proportional to the size of the document. The document may be nested as
// deeply as package canon allows. Checking an ordinary document that matches the schema allocates
// no memory.
func (s *Schema) Check(root canon.Node) Result {
	if s.accept != nil && s.accept.accepts(root) {
		return Result{}
	}
	return s.Reference(root)
}

// Reference is like Check, but uses only the JSON Schema library. It is used to cross-check
// [Schema.Check].
func (s *Schema) Reference(root canon.Node) Result {
	if root.IsZero() {
		return Result{[]Problem{{Keyword: "type", Detail: "expected a document, found none"}}, 1}
	}
	c := checker{base: root.Pointer(), elements: maxElements}
	c.check(s.library(), root, func() string { return "" })
	return c.result
}

type checker struct {
	result   Result
	base     string // pointer to the checked value
	elements int    // number of array elements to check in one step
}

// check checks n, and then the elements that were cut from its arrays. The function at returns the
// pointer to n.
func (c *checker) check(s *jsonschema.Schema, n canon.Node, at func() string) {
	b := builder{left: c.elements}
	if err, ok := s.Validate(b.value(n, s)).(*jsonschema.ValidationError); ok {
		walk(at(), err, c.add)
	}

	// Elements that were cut are checked one by one, and may themselves be cut again.
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

// add counts p, and keeps it if it is one of the first problems. A problem that two branches of a
// schema report is counted once.
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

	// The first problems are kept in order, and the last one is dropped if there are too many.
	kept = slices.Insert(kept, i, p)
	c.result.Problems = kept[:min(len(kept), MaxProblems)]
}

func compare(a, b Problem) int {
	return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Keyword, b.Keyword), cmp.Compare(a.Detail, b.Detail))
}
