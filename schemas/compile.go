package schemas

import (
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/receiptkit/receiptkit/canon"
)

// A Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct{ compiled *jsonschema.Schema }

// Compile compiles an embedded schema. It fails only for an unknown name.
func Compile(n Name) (*Schema, error) {
	text, ok := Source(n)
	if !ok {
		return nil, fmt.Errorf("schemas: no schema %q; there are %q", n, Names())
	}
	return compile(text)
}

func compile(text []byte) (*Schema, error) {
	doc, err := canon.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("schemas: %w", err)
	}
	const location = "urn:receiptkit:schema"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat() // 2020-12 leaves it off
	c.UseLoader(noLoader{})
	if err := c.AddResource(location, value(doc.Root())); err != nil {
		return nil, fmt.Errorf("schemas: %w", err)
	}
	compiled, err := c.Compile(location)
	if err != nil {
		return nil, fmt.Errorf("schemas: %w", err)
	}
	return &Schema{compiled}, nil
}

// noLoader refuses every reference that leaves the schema. The library's own
// loader would open file:// references.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("refused to load %q: a schema stands alone", url)
}

// value turns a parsed document into the tree that the library validates. It is
// made from the one parse, never by a second parser.
func value(n canon.Node) any {
	switch n.Kind() {
	case canon.KindBool:
		return n.Bool()
	case canon.KindNumber:
		return n.Float()
	case canon.KindString:
		return n.String()
	case canon.KindArray:
		elements := []any{}
		for _, e := range n.Elements() {
			elements = append(elements, value(e))
		}
		return elements
	case canon.KindObject:
		members := map[string]any{}
		for name, v := range n.Members() {
			members[name.String()] = value(v)
		}
		return members
	}
	return nil
}
