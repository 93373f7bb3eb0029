package schemas_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/schemas"
)

// A number is a JSON number that keeps its spelling.
type number string

func (n number) MarshalJSON() ([]byte, error) { return []byte(n), nil }

func (n number) float() float64 {
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		panic(err)
	}
	return f
}

func must(t testing.TB, n schemas.Name) *schemas.Schema {
	t.Helper()
	s, err := schemas.Compile(n)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// text writes v as JSON. The package encoding/json compacts the result but does not change the
// spelling of numbers.
func text(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// check checks a string and its canonical form, which must lead to the same result.
func check(t testing.TB, s *schemas.Schema, src string) schemas.Result {
	t.Helper()
	doc, err := canon.Parse([]byte(src))
	if err != nil {
		t.Fatalf("%v in %s", err, src)
	}
	got := s.Check(doc.Root())
	if (got.Total == 0) != (len(got.Problems) == 0) {
		t.Fatalf("%d problems, %d of them listed", got.Total, len(got.Problems))
	}
	if doc.IsCanonical() {
		return got
	}
	again, err := canon.Parse(doc.AppendCanonical(nil))
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Check(again.Root()); !slices.Equal(c.Problems, got.Problems) || c.Total != got.Total {
		t.Fatalf("the canonical form of %.200s fares differently:\n%v\n%v", src, got, c)
	}
	return got
}

// TestEveryFieldAndSample verifies that the result matches the oracle for each sample in each field
// of a receipt that has all fields.
func TestEveryFieldAndSample(t *testing.T) {
	s, all, receipt := must(t, schemas.Receipt), fields(t), fullReceipt(t)
	if got := check(t, s, text(t, receipt)); got.Total != 0 {
		t.Fatal(got)
	}
	var accepted, refused int
	step := 1
	if !testsize.Full() {
		step = 13 // every thirteenth combination of a field and a sample
	}
	for i, f := range all {
		for j, v := range samples {
			if (i+j)%step != 0 {
				continue
			}
			got := check(t, s, text(t, put(receipt, f.path, v)))
			if want := accepts(all, f, v); (got.Total == 0) != want {
				t.Errorf("%s = %s: want accepted %t, got %v", f.pointer(), text(t, v), want, got.Problems)
			}
			if got.Total == 0 {
				accepted++
				continue
			}
			refused++
			for _, p := range got.Problems {
				if !strings.HasPrefix(p.Pointer, f.pointer()) {
					t.Errorf("%s = %s: a problem elsewhere, %+v", f.pointer(), text(t, v), p)
				}
			}
		}
	}
	t.Logf("%d accepted, %d refused", accepted, refused)
	if accepted < 2000/step || refused < 7000/step {
		t.Errorf("only %d accepted and %d refused", accepted, refused)
	}
}

func TestEveryMemberRemoved(t *testing.T) {
	s, receipt := must(t, schemas.Receipt), fullReceipt(t)
	for _, f := range fields(t)[1:] {
		got := check(t, s, text(t, drop(receipt, f.path)))
		if !f.required {
			if got.Total != 0 {
				t.Errorf("without the optional %s: %v", f.pointer(), got.Problems)
			}
			continue
		}
		want := schemas.Problem{field{path: f.parent()}.pointer(), "required", "missing member " + strconv.Quote(f.name())}
		if !slices.Equal(got.Problems, []schemas.Problem{want}) {
			t.Errorf("without %s: %v, want %v", f.pointer(), got.Problems, want)
		}
	}
}

func TestUnknownMemberEverywhere(t *testing.T) {
	s, receipt := must(t, schemas.Receipt), fullReceipt(t)
	var closed, open int
	for _, f := range fields(t) {
		path := append(slices.Clone(f.path), "a/b~c")
		switch f.typ {
		case "closed":
			closed++
			got := check(t, s, text(t, put(receipt, path, number("1"))))
			want := schemas.Problem{f.pointer() + "/a~1b~0c", "additionalProperties", `unknown member "a/b~c"`}
			if !slices.Equal(got.Problems, []schemas.Problem{want}) {
				t.Errorf("in %q: %v, want %v", f.pointer(), got.Problems, want)
			}
		case "open":
			open++
			for _, v := range samples {
				if got := check(t, s, text(t, put(receipt, path, v))); got.Total != 0 {
					t.Errorf("in %q: %v", f.pointer(), got.Problems)
				}
			}
		}
	}
	if closed != 27 || open != 7 {
		t.Errorf("%d closed and %d open objects", closed, open)
	}
}

// TestReplayMaterials verifies the result for every subset of the members that determine validity.
func TestReplayMaterials(t *testing.T) {
	s, receipt := must(t, schemas.Receipt), fullReceipt(t)
	values := map[string]any{"uri": "u", "sha256": digest, "bytes_base64": "eA==", "metadata": map[string]any{}, "id": "i"}
	names := slices.Sorted(maps.Keys(values))
	for set := range 1 << len(names) {
		material := map[string]any{"kind": "artifact"}
		for i, name := range names {
			if set>>i&1 == 1 {
				material[name] = values[name]
			}
		}
		has := func(name string) bool { return material[name] != nil }
		want := has("uri") && has("sha256") || has("bytes_base64") && has("sha256") || has("metadata")
		got := check(t, s, text(t, put(receipt, []string{"replay_input", "materials", "0"}, material)))
		if (got.Total == 0) != want {
			t.Errorf("%v: want accepted %t, got %v", material, want, got.Problems)
		}
		if !want && (got.Total != 1 || got.Problems[0].Pointer != "/replay_input/materials/0" || got.Problems[0].Keyword != "anyOf") {
			t.Errorf("%v: %v", material, got.Problems)
		}
	}
}

// TestTableIsComplete verifies that the table and the schema have the same members.
func TestTableIsComplete(t *testing.T) {
	src, _ := schemas.Source(schemas.Receipt)
	var schema map[string]any
	if err := json.Unmarshal(src, &schema); err != nil {
		t.Fatal(err)
	}
	var got []string
	var walk func(node map[string]any, at string)
	walk = func(node map[string]any, at string) {
		if ref, ok := node["$ref"].(string); ok {
			node = schema["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		}
		got = append(got, at)
		if items, ok := node["items"].(map[string]any); ok {
			walk(items, at+"/0")
		}
		members, _ := node["properties"].(map[string]any)
		for name, member := range members {
			walk(member.(map[string]any), at+"/"+name)
		}
	}
	walk(schema, "")
	var want []string
	for _, f := range fields(t) {
		want = append(want, f.pointer())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the schema has %q\nthe table has %q", got, want)
	}
}

func TestHarnFixtures(t *testing.T) {
	s, dir := must(t, schemas.Receipt), vectors.Dir(t, "harn")
	for name, want := range map[string][]schemas.Problem{
		"task-receipt.json":        nil,
		"task-replay-receipt.json": nil,
		"missing-chain-hash.json":  {{"/chain", "required", `missing member "receipt_hash"`}},
	} {
		src, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := check(t, s, string(src)); !slices.Equal(got.Problems, want) {
			t.Errorf("%s: %v, want %v", name, got.Problems, want)
		}
	}
}
