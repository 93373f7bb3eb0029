package schemas_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/schemas"
)

// receiptTexts returns the contents of the fixtures in a directory.
func receiptTexts(t testing.TB, folder string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("../fixtures/" + folder + "/*.json")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	texts := map[string][]byte{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(f)] = text
	}
	return texts
}

// TestAcceptsReceipts verifies that ordinary receipts are accepted without the library.
func TestAcceptsReceipts(t *testing.T) {
	s, err := schemas.Compile(schemas.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range receiptTexts(t, "valid") {
		d, err := canon.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if !schemas.Accepts(s, d.Root()) {
			t.Errorf("%s is not accepted without the library", name)
		}
		if n := testing.AllocsPerRun(10, func() { s.Check(d.Root()) }); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// agrees fails if the acceptor accepts a document that the library rejects.
func agrees(t testing.TB, s *schemas.Schema, text []byte) {
	t.Helper()
	d, err := canon.Parse(text)
	if err != nil {
		return
	}
	if schemas.Accepts(s, d.Root()) {
		if r := s.Reference(d.Root()); r.Total != 0 {
			t.Errorf("accepted %s, but %v", text, r.Problems)
		}
	}
}

// TestAcceptsNothingWrong verifies that the acceptor accepts no invalid receipt. The receipts are
// damaged in many ways.
func TestAcceptsNothingWrong(t *testing.T) {
	s, err := schemas.Compile(schemas.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	pieces := [][]byte{[]byte("null"), []byte("0"), []byte("-1"), []byte("1.5"), []byte("1e400"), []byte(`""`), []byte(`"x"`), []byte("[]"), []byte("{}"),
		[]byte("true"), []byte(`"2026-02-30T00:00:00Z"`), []byte(`"2026-02-28T24:00:00Z"`), []byte(`"2026-02-28T00:00:00.Z"`), []byte(`"sha256:00"`), []byte(`"€UR"`), []byte("1.0"), []byte("9007199254740993")}
	for _, folder := range []string{"valid", "edge", "malicious"} {
		for _, text := range receiptTexts(t, folder) {
			if len(text) > 20_000 {
				continue
			}
			agrees(t, s, text)
			d, err := canon.Parse(text)
			if err != nil || len(text) == 0 {
				continue
			}
			nodes := collect(d.Root(), nil)
			for range 40 {
				n := nodes[r.IntN(len(nodes))]
				piece := pieces[r.IntN(len(pieces))]
				agrees(t, s, bytes.Join([][]byte{text[:n.Offset()], text[n.Offset()+len(n.Raw()):]}, piece))
			}
		}
	}
}

func collect(n canon.Node, list []canon.Node) []canon.Node {
	list = append(list, n)
	for name, v := range n.Members() {
		list = collect(v, append(list, name))
	}
	for _, e := range n.Elements() {
		list = collect(e, list)
	}
	return list
}

// FuzzAccept verifies that the acceptor accepts no document that the library rejects.
func FuzzAccept(f *testing.F) {
	s, err := schemas.Compile(schemas.Receipt)
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range receiptTexts(f, "valid") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) { agrees(t, s, text) })
}

// TestAcceptorLeaves verifies that the acceptor leaves a schema to the library if the acceptor
// would compare values differently, or if any keyword is unknown, regardless of the other keywords.
func TestAcceptorLeaves(t *testing.T) {
	for schema, text := range map[string]string{
		`{"const": ["a"]}`:  `"a"`,
		`{"const": 1}`:      `"1"`,
		`{"enum": ["a",1]}`: `"a"`,
		`{"minimum": 0.1}`:  `0.09999999999999999999`, // its double is that of 0.1

		`{"format": "ipv4"}`: `"2026-04-25T02:00:28Z"`,
		`{"format": "date-time", "pattern": "^[A-Z]{3}$"}`: `"2026-04-25T02:00:28Z"`,

		// Only the library resolves these references.
		`{"$ref": "urn:b", "$defs": {"urn:b": {}, "b": {"$id": "urn:b", "type": "array"}}}`: `"a"`,
		`{"$ref": "#/$defs/a/items", "$defs": {"a": {"items": {"type": "array"}}}}`:         `"a"`,

		`{"maxLength": 1, "type": "string"}`:                                `"ABC"`,
		`{"maxLength": 1, "minimum": 0}`:                                    `"ABC"`,
		`{"maxLength": 1, "const": "ABC"}`:                                  `"ABC"`,
		`{"maxLength": 1, "minLength": 1}`:                                  `"ABC"`,
		`{"maxLength": 1, "pattern": "^[A-Z]{3}$"}`:                         `"ABC"`,
		`{"maxLength": 1, "additionalProperties": true, "required": ["a"]}`: `"ABC"`,
		`{"maxLength": 1, "$ref": "#/$defs/a", "$defs": {"a": {}}}`:         `"ABC"`,
	} {
		s, err := schemas.CompileText("urn:test", []byte(schema), schemas.Embedded{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := canon.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if schemas.Accepts(s, d.Root()) {
			t.Errorf("%s accepts %s without the library", schema, text)
		}
	}
}
