package schemas_test

import (
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/schemas"
)

// TestCutsChangeNothing verifies that the result is the same whether arrays are cut immediately,
// after a few elements, or not at all.
func TestCutsChangeNothing(t *testing.T) {
	s, all, receipt := must(t, schemas.Receipt), fields(t), fullReceipt(t)
	cases := 0
	for _, f := range all {
		if f.typ != "array" {
			continue
		}
		for _, elements := range [][]any{
			{nil, 1, "x", map[string]any{}, []any{}},
			{map[string]any{"unknown": 1}, map[string]any{"kind": "artifact", "metadata": []any{1}}},
			{map[string]any{"kind": "artifact", "metadata": map[string]any{"open": []any{1, 2, nil}}}},
		} {
			src := text(t, put(put(receipt, f.path, elements), []string{"deltas", "0"}, 5))
			doc, err := canon.Parse([]byte(src))
			if err != nil {
				t.Fatal(err)
			}
			whole := s.Check(doc.Root())
			for _, most := range []int{0, 1, 2, 3, 7} {
				cases++
				if got := s.CheckCut(doc.Root(), most); !reflect.DeepEqual(got, whole) {
					t.Errorf("%s, truncated after %d:\n%+v\nexpected\n%+v", f.pointer(), most, got, whole)
				}
			}
		}
	}
	if cases < 150 {
		t.Errorf("only %d cases", cases)
	}
}

// TestCutsInKeys verifies that an array that has a maximum size, or is compared as a whole, is cut
// only if it is already invalid.
func TestCutsInKeys(t *testing.T) {
	s := must(t, "keys")
	key := func(issuers string) string {
		return `{"kty": "OKP", "kid": "k", "crv": "Ed25519", "x": "A", "issuers": [` + issuers + `], "key_ops": ["sign", "verify"]}`
	}
	for src, want := range map[string]int{
		key(`"a", "b"`):      0,
		key(`"a", "b", "a"`): 1,
		key(`"a", 1, ""`):    2,
	} {
		doc, err := canon.Parse([]byte(`{"keys": [` + src + `, ` + key(`"c"`) + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		for _, most := range []int{0, 1, 2, 100} {
			if got := s.CheckCut(doc.Root(), most); got.Total != want {
				t.Errorf("%s, truncated after %d: %v, expected %d", src, most, got, want)
			}
		}
	}
	many := `{"keys": [` + strings.TrimSuffix(strings.Repeat(key(`"a"`)+",", 10_001), ",") + `]}`
	got := checkOnly(t, s, many)
	if want := (schemas.Problem{Pointer: "/keys", Keyword: "maxItems", Detail: "expected at most 10000 elements, found more"}); got.Total != 1 || got.Problems[0] != want {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestIgnoredChangesNothing verifies that the results do not depend on content that a schema
// ignores.
func TestIgnoredChangesNothing(t *testing.T) {
	values := []any{1, nil, []any{}, []any{1, []any{2}}, map[string]any{}, map[string]any{"uri": []any{1}, "kind": map[string]any{"a": 1}, "unknown": []any{map[string]any{}}}}
	for name, whole := range map[schemas.Name]any{schemas.Receipt: fullReceipt(t), "keys": map[string]any{"keys": []any{map[string]any{"kid": "k"}}}} {
		s := must(t, name)
		cases, turn, part := 0, 0, 3
		if testsize.Full() {
			part = 1
		}
		var walk func(any, []string)
		walk = func(v any, path []string) {
			var inside []string
			switch v := v.(type) {
			case map[string]any:
				inside = append(slices.Sorted(maps.Keys(v)), "unknown")
			case []any:
				inside = []string{"0"}
			}
			for _, member := range inside {
				at := append(slices.Clip(path), member)
				for _, other := range values {
					if turn++; turn%part != 0 {
						continue
					}
					cases++
					doc, err := canon.Parse([]byte(text(t, put(whole, at, other))))
					if err != nil {
						t.Fatal(err)
					}
					if got, want := s.Reference(doc.Root()), s.CheckWhole(doc.Root()); !reflect.DeepEqual(got, want) {
						t.Fatalf("%v = %v:\n%+v\nwant\n%+v", at, other, got, want)
					}
				}
				if m, ok := v.(map[string]any); ok && m[member] != nil {
					walk(m[member], at)
				}
			}
			if list, ok := v.([]any); ok && len(list) > 0 {
				walk(list[0], append(slices.Clip(path), "0"))
			}
		}
		walk(whole, nil)
		if name == schemas.Receipt && cases < 500/part {
			t.Errorf("only %d cases", cases)
		}
	}
}

// TestKeywordsApply verifies that members and elements are not ignored if any keyword concerns them,
// in the schema itself or in a branch, regardless of the depth of the branch.
func TestKeywordsApply(t *testing.T) {
	chain := `"$defs": {"10": {"items": false}`
	for i := range 10 {
		chain += fmt.Sprintf(`, "%d": {"$ref": "#/$defs/%d"}`, i, i+1)
	}
	for _, test := range [][2]string{
		{`"minItems": 1, "contains": {"const": 1}`, `[1]`},
		{`"minItems": 1`, `[1]`},
		{`"minProperties": 1`, `{"a": 1}`},
		{`"const": [1]`, `[1]`},
	} {
		if n := problems(t, "{"+test[0]+"}", test[1]); n != 0 {
			t.Errorf("%s rejects %s", test[0], test[1])
		}
	}
	for _, test := range [][2]string{
		{`"minItems": 2`, `[1]`},
		{`"maxItems": 0`, `[1]`},
		{`"uniqueItems": true`, `[1, 1]`},
		{`"contains": {"const": 1}`, `[2]`},
		{`"prefixItems": [false]`, `[1]`},
		{`"items": false`, `[1]`},
		{`"unevaluatedItems": false`, `[1]`},
		{`"enum": [[2]]`, `[1]`},
		{`"const": [2]`, `[1]`},
		{`"$dynamicRef": "#a", "$defs": {"a": {"$dynamicAnchor": "a", "items": false}}`, `[1]`},
		{`"propertyNames": {"maxLength": 1}`, `{"ab": 1}`},
		{`"patternProperties": {"a": false}`, `{"a": 1}`},
		{`"additionalProperties": {"type": "string"}`, `{"a": 1}`},
		{`"dependentRequired": {"a": ["b"]}`, `{"a": 1}`},
		{`"dependentSchemas": {"a": false}`, `{"a": 1}`},
		{`"unevaluatedProperties": false`, `{"a": 1}`},
		{`"minProperties": 2`, `{"a": 1}`},
		{`"maxProperties": 0`, `{"a": 1}`},
		{`"required": ["b"]`, `{"a": 1}`},
		{`"properties": {"a": false}`, `{"a": 1}`},
		{`"enum": [{"a": 2}]`, `{"a": 1}`},
		{`"const": {"a": 2}`, `{"a": 1}`},
		{`"allOf": [{"allOf": [{"allOf": [{"allOf": [{"allOf": [{"items": false}]}]}]}]}]`, `[1]`},
		{`"allOf": [{"$ref": "#/$defs/0"}], ` + chain + `}`, `[1]`},
	} {
		for _, form := range []string{`{%s}`, `{"allOf": [{%s}]}`, `{"anyOf": [{%s}]}`, `{"oneOf": [{%s}]}`, `{"not": {"not": {%s}}}`,
			`{"if": {%s}, "else": false}`, `{"if": true, "then": {%s}}`, `{"if": false, "else": {%s}}`} {
			if form != `{%s}` && strings.Contains(test[0], "$defs") {
				continue // the references are relative to the root
			}
			if schema := fmt.Sprintf(form, test[0]); problems(t, schema, test[1]) == 0 {
				t.Errorf("%s accepts %s", schema, test[1])
			}
		}
	}
}

// problems returns the number of problems that a schema has with a document.
func problems(t *testing.T, schema, text string) int {
	t.Helper()
	s, err := schemas.CompileText("https://schemas.invalid/x", []byte(schema), schemas.Embedded{})
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	doc, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Check(doc.Root()).Total
}

// TestIgnoredCostsNothing verifies that no tree is built for unknown members, for members without
// conditions, or for the content of a value that has the wrong kind.
func TestIgnoredCostsNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes growing a slice allocate twice")
	}
	const elements = 100_000
	s := must(t, schemas.Receipt)
	objects := "[" + strings.Repeat(`{"a":1},`, elements) + "1]"
	var names strings.Builder
	for i := range elements {
		fmt.Fprintf(&names, `"%d":{},`, i)
	}
	for _, src := range []string{
		`{"unknown": ` + objects + `}`,
		`{"metadata": {"a": ` + objects + `}}`,
		`{"receipt_id": ` + objects + `}`,
		`{"chain": ` + objects + `}`,
		`{"replay_material": [{"unknown": ` + objects + `}]}`,
		`{"metadata": {` + names.String() + `"x": 1}}`,
		`{` + names.String() + `"x": 1}`,
	} {
		doc, err := canon.Parse([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		got := s.Check(doc.Root())
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 100*elements {
			t.Errorf("%.40s: %d bytes for each element", src, used/elements)
		}
		if got.Total == 0 {
			t.Errorf("%.40s: accepted", src)
		}
	}
}

// TestCutsEnd verifies that elements after a cut are not checked if there are too many problems.
func TestCutsEnd(t *testing.T) {
	doc, err := canon.Parse([]byte(`{"approvals": [` + strings.Repeat("0,", 10_500) + `0]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := must(t, schemas.Receipt).CheckCut(doc.Root(), 10); got.Total != 10_000 {
		t.Errorf("%d problems", got.Total)
	}
}

// TestHugeWrongDocument verifies that, for megabytes of problems, the memory use is proportional to
// the size of the document, and is not hundreds of bytes per problem.
func TestHugeWrongDocument(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	elements := testsize.Of(500_000, 2_000_000)
	var before, after runtime.MemStats
	for _, src := range []string{
		`{"approvals": [` + strings.Repeat("0,", elements) + `0]}`,
		`{"metadata": [` + strings.Repeat("0,", elements) + `0]}`,
		`{"metadata": {"a": [` + strings.Repeat("0,", elements) + `0]}}`,
	} {
		doc, err := canon.Parse([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		s := must(t, schemas.Receipt)
		runtime.GC()
		runtime.ReadMemStats(&before)
		got := s.Check(doc.Root())
		runtime.ReadMemStats(&after)
		// The library's tree uses 24 bytes for each number, and twice as much while the array
		// grows.
		if used := (after.TotalAlloc - before.TotalAlloc) / uint64(elements); used > 200 {
			t.Errorf("%.20s: %d bytes for each element", src, used)
		}
		if len(got.Problems) == 0 {
			t.Errorf("%.20s: accepted", src)
		}
	}
}

// TestDeep verifies that a document with the maximum nesting depth of package canon can be checked.
func TestDeep(t *testing.T) {
	const depth = 10_000
	s := must(t, schemas.Receipt)
	for _, src := range []string{
		strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth),
		strings.Repeat(`{"metadata":`, depth) + `1` + strings.Repeat(`}`, depth),
		strings.Repeat(`{"chain":`, depth) + `1` + strings.Repeat(`}`, depth),
	} {
		var doc canon.Document
		if err := doc.Parse([]byte(src), canon.Limits{Depth: depth}); err != nil {
			t.Fatal(err)
		}
		if got := s.Check(doc.Root()); got.Total == 0 {
			t.Errorf("%.30s accepted", src)
		}
	}
	receipt := put(fullReceipt(t), []string{"metadata"}, map[string]any{"deep": 0})
	src := strings.Replace(text(t, receipt), `"deep":0`, `"deep":`+strings.Repeat(`[`, depth-2)+strings.Repeat(`]`, depth-2), 1)
	var doc canon.Document
	if err := doc.Parse([]byte(src), canon.Limits{Depth: depth}); err != nil {
		t.Fatal(err)
	}
	if got := s.Check(doc.Root()); got.Total != 0 {
		t.Error(got)
	}
}

// TestConcurrentChecks runs concurrent checks, so that the race detector can find data races.
func TestConcurrentChecks(t *testing.T) {
	s, src := must(t, schemas.Receipt), text(t, fullReceipt(t))
	done := make(chan schemas.Result)
	for range 4 {
		go func() {
			var got schemas.Result
			for range 50 {
				doc, err := canon.Parse([]byte(src))
				if err != nil {
					got.Total = -1
					break
				}
				got.Total += s.Check(doc.Root()).Total
			}
			done <- got
		}()
	}
	for range 4 {
		if got := <-done; got.Total != 0 {
			t.Error(got)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := schemas.Compile(schemas.Receipt); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	s, src := must(b, schemas.Receipt), []byte(text(b, fullReceipt(b)))
	doc, err := canon.Parse(src)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if got := s.Check(doc.Root()); got.Total != 0 {
			b.Fatal(got)
		}
	}
}
