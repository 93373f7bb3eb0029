package schemas

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/receiptkit/receiptkit/canon"
)

// maxElements is the maximum number of array elements that are checked in one step.
//
// The library returns a tree with all of a document's errors, and each error uses a few hundred
// bytes: 16 MiB of "0,0,0," as approvals would use gigabytes. Long arrays are therefore cut, and
// the elements after the cut are checked individually. Documents of ordinary size are never cut.
const maxElements = 1 << 14

// A builder converts a parsed value into the tree that the library validates. It uses the index
// from the only parse and never parses again. Numbers are doubles, which are their values in RFC
// 8785.
type builder struct {
	left int // number of elements until arrays are cut
	cuts []cut
}

// A cut is the rest of an array: the elements that are not in the tree.
type cut struct {
	array canon.Node
	from  int
	items *jsonschema.Schema
}

// value returns the complete tree for n.
func value(n canon.Node) any { return new(builder).value(n, nil) }

// value returns the tree for n. The schema s applies to n. If s is nil, nothing in n is checked and
// nothing is cut.
func (b *builder) value(n canon.Node, s *jsonschema.Schema) any {
	switch n.Kind() {
	case canon.KindBool:
		return n.Bool()
	case canon.KindNumber:
		return n.Float()
	case canon.KindString:
		return n.String()
	case canon.KindArray:
		return b.array(n, target(s))
	case canon.KindObject:
		return b.object(n, target(s))
	}
	return nil
}

// object omits the members that the schema ignores, because a tree for 16 MiB of unknown members
// would use a few hundred bytes per member.
func (b *builder) object(n canon.Node, s *jsonschema.Schema) any {
	members := map[string]any{}
	unknown := 0
	for nameNode, v := range n.Members() {
		name := nameNode.String()
		switch {
		case s == nil:
			members[name] = b.value(v, nil)
		case !ignoresMember(s, name, maxBranches):
			members[name] = b.value(v, onlySchema(s, name))
		case s.AdditionalProperties == false && unknown <= maxTotal: // the member's name is the problem
			members[name] = nil
			unknown++
		}
	}

	return members
}

// onlySchema returns the only schema that applies to a member, or nil if branches of s have further
// conditions for the member.
func onlySchema(s *jsonschema.Schema, name string) *jsonschema.Schema {
	if all(s, maxBranches, func(branch *jsonschema.Schema) bool { return ignoresMember(branch, name, maxBranches-1) }) {
		return s.Properties[name]
	}
	return nil
}

func (b *builder) array(n canon.Node, s *jsonschema.Schema) any {
	elements := []any{}
	if s != nil && ignoresElements(s, maxBranches) {
		return elements
	}

	// Elements can be cut only if they have a schema, because the rest is checked against that
	// schema later. Without a schema, keep all of them.
	if s == nil || s.Items2020 == nil {
		for _, e := range n.Elements() {
			elements = append(elements, b.value(e, nil))
		}
		return elements
	}

	for i, e := range n.Elements() {
		// One element more than maxItems must remain, or the excess would not be detected.
		if b.left <= 0 && (s.MaxItems == nil || i > *s.MaxItems) {
			b.cuts = append(b.cuts, cut{n, i, s.Items2020})
			break
		}
		b.left--
		elements = append(elements, b.value(e, s.Items2020))
	}

	return elements
}

// ignoresMember reports whether s has no condition for a member, except for whether a member with
// that name is allowed. An unknown keyword may impose any condition.
func ignoresMember(s *jsonschema.Schema, name string, depth int) bool {
	if _, open := s.AdditionalProperties.(*jsonschema.Schema); open || compares(s) ||
		s.PropertyNames != nil || s.PatternProperties != nil || s.Dependencies != nil || s.DependentRequired != nil ||
		s.DependentSchemas != nil || s.UnevaluatedProperties != nil || s.MinProperties != nil || s.MaxProperties != nil {
		return false
	}
	if s.Properties[name] != nil || slices.Contains(s.Required, name) {
		return false
	}
	return all(s, depth, func(branch *jsonschema.Schema) bool { return ignoresMember(branch, name, depth-1) })
}

// ignoresElements reports whether s has no condition for the elements of an array or for their
// number.
func ignoresElements(s *jsonschema.Schema, depth int) bool {
	if compares(s) || s.MinItems != nil || s.MaxItems != nil || s.UniqueItems || s.Contains != nil || s.Items != nil ||
		s.AdditionalItems != nil || s.PrefixItems != nil || s.Items2020 != nil || s.UnevaluatedItems != nil {
		return false
	}
	return all(s, depth, func(branch *jsonschema.Schema) bool { return ignoresElements(branch, depth-1) })
}

// compares reports whether s has a condition for an entire value, or refers to another schema
// that is not examined here.
func compares(s *jsonschema.Schema) bool {
	return s.Enum != nil || s.Const != nil || s.RecursiveRef != nil || s.DynamicRef != nil || len(s.Extensions) > 0
}

// maxBranches is the maximum depth of nested branches that are examined, because branches may
// be recursive.
const maxBranches = 4

// all reports whether holds is true for every branch of s.
func all(s *jsonschema.Schema, depth int, holds func(*jsonschema.Schema) bool) bool {
	for _, branches := range [...][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, {s.Ref, s.Not, s.If, s.Then, s.Else}} {
		for _, branch := range branches {
			if branch != nil && (depth == 0 || target(branch) == nil || !holds(target(branch))) {
				return false
			}
		}
	}
	return true
}

// target follows $ref, but not in cycles. In the embedded schemas, a $ref has only descriptions
// next to it.
func target(s *jsonschema.Schema) *jsonschema.Schema {
	for range 8 {
		if s == nil || s.Ref == nil {
			return s
		}
		s = s.Ref
	}
	return nil
}
