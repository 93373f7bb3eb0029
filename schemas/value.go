package schemas

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/receiptkit/receiptkit/canon"
)

// maxElements is the maximum number of array elements that are checked in one step.
//
// The library returns a tree of all errors in a document, and each error uses a few hundred bytes.
// If approvals were 16 MiB of "0,0,0,", the errors would use gigabytes. Long arrays are therefore
// cut, and the elements after the cut are checked one by one. A document of ordinary size is never
// cut.
const maxElements = 1 << 14

// A builder converts a parsed value into a tree that the library can validate. It uses the index
// that was created when the document was parsed, and never parses the document again. Numbers in
// the tree are doubles, which are the values that they have in RFC 8785.
type builder struct {
	left int // number of elements that can be added before arrays are cut
	cuts []cut
}

// A cut contains the rest of an array, that is, the elements that are not in the tree.
type cut struct {
	array canon.Node
	from  int
	items *jsonschema.Schema
}

// value returns the complete tree for n.
func value(n canon.Node) any { return new(builder).value(n, nil) }

// value returns the tree for n, to which the schema s applies. If s is nil, nothing in n is
// checked, so nothing is cut.
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

// object omits members that the schema ignores, because the tree for 16 MiB of unknown members
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
		case s.AdditionalProperties == false && unknown <= maxTotal: // only the name of the member matters, because it is not allowed
			members[name] = nil
			unknown++
		}
	}

	return members
}

// onlySchema returns the only schema that applies to a member, or nil if branches of s impose
// further conditions on the member.
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

	// Elements can be cut only if a schema applies to them, because the rest is checked against
	// that schema later. Without such a schema, all elements are kept.
	if s == nil || s.Items2020 == nil {
		for _, e := range n.Elements() {
			elements = append(elements, b.value(e, nil))
		}
		return elements
	}

	for i, e := range n.Elements() {
		// The tree must contain at least one element more than maxItems, so that the excess is
		// detected.
		if b.left <= 0 && (s.MaxItems == nil || i > *s.MaxItems) {
			b.cuts = append(b.cuts, cut{n, i, s.Items2020})
			break
		}
		b.left--
		elements = append(elements, b.value(e, s.Items2020))
	}

	return elements
}

// ignoresMember reports whether s imposes no condition on a member, except whether its name is
// allowed. A keyword that is not recognized may impose any condition.
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

// ignoresElements reports whether s imposes no condition on the elements of an array or on their
// number.
func ignoresElements(s *jsonschema.Schema, depth int) bool {
	if compares(s) || s.MinItems != nil || s.MaxItems != nil || s.UniqueItems || s.Contains != nil || s.Items != nil ||
		s.AdditionalItems != nil || s.PrefixItems != nil || s.Items2020 != nil || s.UnevaluatedItems != nil {
		return false
	}
	return all(s, depth, func(branch *jsonschema.Schema) bool { return ignoresElements(branch, depth-1) })
}

// compares reports whether s imposes a condition on an entire value, or refers to a schema that is
// not examined here.
func compares(s *jsonschema.Schema) bool {
	return s.Enum != nil || s.Const != nil || s.RecursiveRef != nil || s.DynamicRef != nil || len(s.Extensions) > 0
}

// maxBranches is the maximum depth to which nested branches are examined, because branches may be
// recursive.
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

// target follows $ref, but never in a cycle. In the embedded schemas, a $ref has only descriptions
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
