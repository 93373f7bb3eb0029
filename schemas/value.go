package schemas

import (
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/receiptkit/receiptkit/canon"
)

// maxElements is how many array elements are checked in one go.
//
// The library returns a tree with every error of a document, and each costs some
// hundred bytes: 16 MiB of "0,0,0," in the place of approvals would cost
// gigabytes. So long arrays are cut, and the elements behind the cut are checked
// one after the other. A document of ordinary size is never cut.
const maxElements = 1 << 14

// A builder turns a parsed value into the tree that the library validates. It is
// made from the one parse, never by a second parser. Numbers are doubles, their
// value in RFC 8785.
type builder struct {
	left int // elements until arrays are cut
	cuts []cut
}

// A cut is the rest of an array: the elements that are not in the tree.
type cut struct {
	array canon.Node
	from  int
	items *jsonschema.Schema
}

// value returns the whole tree of n.
func value(n canon.Node) any { return new(builder).value(n, nil) }

// value returns the tree of n. The schema s applies to n, or is nil where none
// does: there nothing is checked and nothing is cut.
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

func (b *builder) object(n canon.Node, s *jsonschema.Schema) any {
	members := map[string]any{}
	for nameNode, v := range n.Members() {
		name := nameNode.String()
		if s == nil {
			members[name] = b.value(v, nil)
		} else {
			members[name] = b.value(v, s.Properties[name])
		}
	}
	return members
}

func (b *builder) array(n canon.Node, s *jsonschema.Schema) any {
	elements := []any{}
	if s == nil || s.Items2020 == nil {
		for _, e := range n.Elements() {
			elements = append(elements, b.value(e, nil))
		}
		return elements
	}
	for i, e := range n.Elements() {
		// One element more than maxItems must stay, or nobody would notice.
		if b.left <= 0 && (s.MaxItems == nil || i > *s.MaxItems) {
			b.cuts = append(b.cuts, cut{n, i, s.Items2020})
			break
		}
		b.left--
		elements = append(elements, b.value(e, s.Items2020))
	}
	return elements
}

// target follows $ref, but not in circles. Beside a $ref our schemas have
// descriptions only.
func target(s *jsonschema.Schema) *jsonschema.Schema {
	for range 8 {
		if s == nil || s.Ref == nil {
			return s
		}
		s = s.Ref
	}
	return nil
}
