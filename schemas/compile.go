package schemas

import (
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/receiptkit/receiptkit/canon"
)

// draft is the only dialect of JSON Schema that this package supports. Without this restriction,
// the library would also accept a $schema of an older draft, in which the same keywords have
// different meanings.
const draft = "https://json-schema.org/draft/2020-12/schema"

// A Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct {
	library func() *jsonschema.Schema // compiles the schema at its first use
	accept  *acceptor                 // nil for schemas with unsupported keywords
}

// Compile compiles an embedded schema. Each schema is compiled at most once per process, at its
// first use. The library takes a few milliseconds to compile a schema, and does so only when it has
// to validate a document. Compile fails only for an unknown name.
func Compile(n Name) (*Schema, error) {
	once, ok := compiled()[n]
	if !ok {
		return nil, fmt.Errorf("schemas: no schema %s; there are %q", quote(string(n)), Names())
	}
	return once()
}

// compiled contains functions that compile the embedded schemas, each at most once.
var compiled = sync.OnceValue(func() map[Name]func() (*Schema, error) {
	each := map[Name]func() (*Schema, error){}
	for _, n := range Names() {
		each[n] = sync.OnceValues(func() (*Schema, error) {
			text, _ := Source(n) // every name has a source
			return newSchema(text, func() (*jsonschema.Schema, error) { return compile(id(n), text, embedded{}) })
		})
	}
	return each
})

// newSchema returns an embedded schema. Tests verify that the library compiles each of them.
func newSchema(text []byte, library func() (*jsonschema.Schema, error)) (*Schema, error) {
	doc, err := canon.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("schemas: %w", err)
	}
	return &Schema{sync.OnceValue(func() *jsonschema.Schema {
		s, err := library()
		if err != nil {
			panic(err) // it is embedded
		}
		return s
	}), newAcceptor(doc.Root())}, nil
}

// compile compiles a schema with the library.
func compile(location string, text []byte, loader jsonschema.URLLoader) (*jsonschema.Schema, error) {
	tree, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("schemas: %w", err)
	}

	// The dialect, the formats, and the loader do not depend on the schema.
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat() // formats are not asserted by default in draft 2020-12
	c.UseLoader(loader)
	if err := c.AddResource(location, tree); err != nil {
		return nil, fmt.Errorf("schemas: %w", err)
	}

	compiled, err := c.Compile(location)
	if err != nil {
		return nil, fmt.Errorf("schemas: %w", err)
	}

	return compiled, nil
}

// parse parses the text of a schema in the supported dialect.
func parse(text []byte) (any, error) {
	doc, err := canon.Parse(text)
	if err != nil {
		return nil, err
	}
	if s := doc.Root().Member("$schema"); !s.IsZero() && s.String() != draft {
		return nil, fmt.Errorf("expected the $schema %q, found %s", draft, show(value(s)))
	}
	return value(doc.Root()), nil
}

// embedded resolves references between embedded schemas and rejects all other references, because
// the library's own loader would open file:// references.
type embedded struct{}

func (embedded) Load(url string) (any, error) {
	name, ok := strings.CutPrefix(url, idPrefix)
	text, known := Source(Name(name))
	if !ok || !known {
		return nil, fmt.Errorf("refused to load %s: schemas refer to embedded ones only", quote(url))
	}
	return parse(text)
}
