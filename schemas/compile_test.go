package schemas_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/schemas"
)

func TestNames(t *testing.T) {
	var want []string
	for _, n := range schemas.Names() {
		want = append(want, string(n)+".schema.json")
		must(t, n)
		text, ok := schemas.Source(n)
		if !ok {
			t.Fatalf("no source of %q", n)
		}
		text[0] = 'x' // the caller's copy
		if again, _ := schemas.Source(n); again[0] != '{' {
			t.Errorf("the source of %q is shared", n)
		}
	}
	slices.Sort(want)
	got, err := filepath.Glob("*.schema.json")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("files %q, names %q, %v", got, want, err)
	}
}

func TestUnknownName(t *testing.T) {
	for _, n := range []schemas.Name{"", "x", "../schemas/report", "report.schema.json", "Report"} {
		if text, ok := schemas.Source(n); ok || text != nil {
			t.Errorf("Source(%q) has a text", n)
		}
		if s, err := schemas.Compile(n); err == nil || s != nil {
			t.Errorf("Compile(%q) = %v, %v", n, s, err)
		}
	}
	_, err := schemas.Compile("x\n")
	const want = `schemas: no schema "x\n"; there are ["receipt-2026-04-25" "report" "summary" "verify" "keys" "batch" "disclosures" "replay-request" "session-bundle" "event"]`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestCompiledOnce verifies that repeated and concurrent calls return the same compiled schema.
func TestCompiledOnce(t *testing.T) {
	for _, n := range schemas.Names() {
		var got [4]*schemas.Schema
		var all sync.WaitGroup
		for i := range got {
			all.Go(func() {
				s, err := schemas.Compile(n)
				if err != nil {
					t.Error(err)
				}
				got[i] = s
			})
		}
		all.Wait()
		if slices.ContainsFunc(got[:], func(s *schemas.Schema) bool { return s == nil || s != got[0] }) {
			t.Errorf("%s: compiled more than once: %p", n, got)
		}
	}
}

// spy records the locations that a compilation requests.
type spy struct {
	schemas.Embedded
	asked []string
}

func (s *spy) Load(url string) (any, error) {
	s.asked = append(s.asked, url)
	return s.Embedded.Load(url)
}

// TestNothingIsLoaded verifies that references to external locations are rejected, even if a
// location exists. The loader must reject each of them without opening it.
func TestNothingIsLoaded(t *testing.T) {
	exists := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(exists, []byte("true"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{
		"file:///etc/passwd", "file://" + exists, exists, "schema.json", "../x", "./report.schema.json", "//127.0.0.1/x", "?q",
		"http://127.0.0.1/x", "https://127.0.0.1/x", "http://[::1]:1/", "ftp://127.0.0.1/x", "data:application/json,true", "urn:x",
		"urn:receiptkit:schema:", "urn:receiptkit:schema:x", "urn:receiptkit:schema:../schemas/report", "urn:receiptkit:schema:report/x",
	} {
		for _, base := range []string{"https://127.0.0.1/a/b", "file://" + filepath.Dir(exists) + "/b"} {
			for _, keyword := range []string{"$ref", "$dynamicRef"} {
				s, err := schemas.CompileText(base, fmt.Appendf(nil, `{%q: %q}`, keyword, ref), schemas.Embedded{})
				if err == nil || s != nil || !strings.Contains(err.Error(), "refused to load") {
					t.Errorf("%s %q in %s: %v, %v", keyword, ref, base, s, err)
				}
			}
		}
	}
	for _, src := range []string{
		`{"$schema": "file:///etc/passwd"}`, `{"$schema": "http://127.0.0.1/x"}`,
		`{"$defs": {"a": {"$id": "urn:a", "$schema": "http://127.0.0.1/x"}}}`,
		`{"$id": "file:///etc/", "$ref": "passwd"}`, `{"$id": "http://127.0.0.1/", "$ref": "x"}`,
	} {
		if s, err := schemas.CompileText("urn:test", []byte(src), schemas.Embedded{}); err == nil || s != nil {
			t.Errorf("%s compiled", src)
		}
	}
}

// TestEmbeddedLoadsEmbedded verifies that the embedded schemas load only other embedded schemas.
func TestEmbeddedLoadsEmbedded(t *testing.T) {
	want := map[schemas.Name][]string{"verify": {"urn:receiptkit:schema:report", "urn:receiptkit:schema:summary"}}
	for _, n := range schemas.Names() {
		text, _ := schemas.Source(n)
		loader := new(spy)
		if _, err := schemas.CompileText(schemas.ID(n), text, loader); err != nil {
			t.Error(err)
		}
		slices.Sort(loader.asked)
		if !slices.Equal(loader.asked, want[n]) {
			t.Errorf("%s asks for %q, want %q", n, loader.asked, want[n])
		}
	}
}

func TestDialectIsPinned(t *testing.T) {
	for src, ok := range map[string]bool{
		`{}`:    true,
		`true`:  true,
		`false`: true,
		`{"$schema": "https://json-schema.org/draft/2020-12/schema"}`: true,
		`{"$schema": "https://json-schema.org/draft/2019-09/schema"}`: false,
		`{"$schema": "http://json-schema.org/draft-07/schema#"}`:      false,
		`{"$schema": "http://json-schema.org/draft-04/schema"}`:       false,
		`{"$schema": "urn:unknown"}`:                                  false,
		`{"$schema": 7}`:                                              false,
		`{"type": "text"}`:                                            false, // not valid by the meta-schema
		`{"minLength": -1}`:                                           false,
		`{"pattern": "(?=a)"}`:                                        false, // RE2 has no look-ahead
		`{"pattern": "(a)\\1"}`:                                       false,
		`{"type": "string", "type": "number"}`:                        false, // duplicate name
		`{"$ref": "#/$defs/x"}`:                                       false,
		``:                                                            false,
	} {
		if _, err := schemas.CompileText("urn:test", []byte(src), schemas.Embedded{}); (err == nil) != ok {
			t.Errorf("%s: %v", src, err)
		}
	}
}

func TestReferenceLoopsEnd(t *testing.T) {
	for _, src := range []string{
		`{"$ref": "#"}`, `{"allOf": [{"$ref": "#"}]}`, `{"$dynamicAnchor": "a", "$dynamicRef": "#a"}`,
		`{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}`,
	} {
		s, err := schemas.CompileText("urn:test", []byte(src), schemas.Embedded{})
		if err != nil {
			continue
		}
		if got := checkOnly(t, s, `[1, {"a": 1}]`); got.Total == 0 {
			t.Errorf("%s accepts", src)
		}
	}
}

// checkOnly checks a string without also checking its canonical form.
func checkOnly(t testing.TB, s *schemas.Schema, src string) schemas.Result {
	t.Helper()
	doc, err := canon.Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return s.Check(doc.Root())
}

// TestOurSchemasAreExplicit verifies that every object in the embedded schemas specifies whether
// unknown members are allowed, every pattern is anchored at both ends, and everything has a
// description. The schemas must not contain keywords that [builder] does not support.
func TestOurSchemasAreExplicit(t *testing.T) {
	for _, n := range schemas.Names() {
		src, _ := schemas.Source(n)
		var root map[string]any
		if err := json.Unmarshal(src, &root); err != nil {
			t.Fatal(err)
		}
		if root["$id"] != schemas.ID(n) || root["$schema"] != schemas.Draft {
			t.Errorf("%s: $id %v, $schema %v", n, root["$id"], root["$schema"])
		}
		objects := 0
		explicit(t, root, string(n), true, &objects)
		if objects == 0 {
			t.Errorf("%s has no object", n)
		}
		if n == schemas.Receipt && objects != 32 { // 25 closed objects and 7 open objects
			t.Errorf("%s has %d objects", n, objects)
		}
	}
}

func explicit(t *testing.T, node map[string]any, at string, documented bool, objects *int) {
	t.Helper()
	if types := fmt.Sprint(node["type"]); strings.Contains(types, "object") {
		*objects++
		if _, ok := node["additionalProperties"]; !ok {
			t.Errorf("%s does not say whether it is closed", at)
		}
	} else if node["properties"] != nil && documented {
		t.Errorf("%s has properties but no type object", at)
	}
	if p, ok := node["pattern"].(string); ok && (p[0] != '^' || p[len(p)-1] != '$' || strings.Contains(p, "|")) {
		t.Errorf("%s: the pattern %s is not anchored", at, p)
	}
	if documented && node["description"] == nil && node["$ref"] == nil {
		t.Errorf("%s has no description", at)
	}
	if node["$ref"] != nil && (len(node) > 2 || len(node) == 2 && node["description"] == nil) {
		t.Errorf("%s: a $ref with other keywords", at)
	}
	if (node["uniqueItems"] != nil || node["contains"] != nil) && node["maxItems"] == nil {
		t.Errorf("%s: cutting the array would change the answer", at)
	}
	// The library reports incorrect locations for propertyNames. The other keywords would hide
	// arrays that have to be cut.
	for _, keyword := range []string{"propertyNames", "prefixItems", "unevaluatedProperties", "unevaluatedItems", "dependentSchemas"} {
		if node[keyword] != nil {
			t.Errorf("%s: %s is not for our schemas", at, keyword)
		}
	}
	for _, keyword := range []string{"properties", "$defs"} {
		members, _ := node[keyword].(map[string]any)
		for name, member := range members {
			if m, ok := member.(map[string]any); ok {
				explicit(t, m, at+"/"+keyword+"/"+name, documented, objects)
			}
		}
	}
	for _, keyword := range []string{"items", "additionalProperties", "if", "then", "contains"} {
		if m, ok := node[keyword].(map[string]any); ok {
			explicit(t, m, at+"/"+keyword, false, objects)
		}
	}
	for _, keyword := range []string{"allOf", "anyOf"} {
		branches, _ := node[keyword].([]any)
		for i, m := range branches {
			explicit(t, m.(map[string]any), fmt.Sprint(at, "/", keyword, "/", i), false, objects)
		}
	}
}

// TestMetaSchema validates the embedded schemas against the meta-schema by name. Compiling the
// schemas has already done this.
func TestMetaSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.UseLoader(schemas.Embedded{})
	meta, err := c.Compile(schemas.Draft)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range schemas.Names() {
		src, _ := schemas.Source(n)
		tree, err := schemas.Tree(src)
		if err != nil {
			t.Fatal(err)
		}
		if err := meta.Validate(tree); err != nil {
			t.Errorf("%s: %v", n, err)
		}
	}
	if meta.Validate(map[string]any{"type": "text"}) == nil {
		t.Error("the meta-schema accepts anything")
	}
}
