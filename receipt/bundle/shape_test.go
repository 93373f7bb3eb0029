package bundle_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/bundle"
	"github.com/receiptkit/receiptkit/schemas"
)

// TestSchema verifies that Check and a JSON Schema validator agree on the unchanged bundle and on
// every bundle in which the type of a value was changed.
func TestSchema(t *testing.T) {
	schema, err := schemas.Compile("session-bundle")
	if err != nil {
		t.Fatal(err)
	}
	cases, refusals, part := 0, 0, 8
	if testsize.Full() {
		part = 1
	}
	for _, data := range [][]byte{file(t, "local.json"), exported(t, file(t, "run.json"), bundle.Options{Attachments: true}).Bytes()} {
		for i, way := range waysIn(tree(t, data), nil) {
			for k, with := range []any{nil, true, -1, 0, 1, 1.5, "", "x", []any{}, []any{1}, []any{"x"}, map[string]any{}, "read_only", "local"} {
				if (i+k)%part > 0 {
					continue
				}
				v := tree(t, data)
				put(t, v, with, way...)
				text := encode(t, v)
				doc, err := canon.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				_, err = bundle.Check(parse(t, text), bundle.AllowMarkers)
				var wrong *bundle.Error
				if err != nil && !errors.As(err, &wrong) {
					t.Fatal(err)
				}
				if want := schema.Check(doc.Root()).Total == 0; want != (err == nil) {
					t.Errorf("%v at %v: %v, by the schema %v", with, way, err, want)
				}
				if cases++; err != nil {
					refusals++
				}
			}
		}
	}
	if cases < 2000/part || refusals < 800/part {
		t.Errorf("%d cases, %d refused", cases, refusals)
	}
}

// waysIn returns the paths to all values that the schema describes, including the members of list
// elements.
func waysIn(v any, way []any) (ways [][]any) {
	if len(way) > 0 {
		ways = append(ways, way)
	}
	if len(way) == 5 || slices.Contains(way, any("run_record")) {
		return ways
	}
	switch v := v.(type) {
	case map[string]any:
		for name, m := range v {
			ways = append(ways, waysIn(m, append(slices.Clone(way), name))...)
		}
	case []any:
		for i, e := range v {
			ways = append(ways, waysIn(e, append(slices.Clone(way), i))...)
		}
	}
	return ways
}
