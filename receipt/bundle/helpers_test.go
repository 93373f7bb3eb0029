package bundle_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/bundle"
)

func file(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func parse(t testing.TB, data []byte) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// exported returns the bundle that is exported for a run.
func exported(t testing.TB, run []byte, o bundle.Options) *bundle.Text {
	t.Helper()
	text, err := bundle.Export(run, o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func sanitized(t testing.TB, data []byte, mode bundle.Mode, strict bool) *bundle.Text {
	t.Helper()
	text, err := bundle.Sanitize(parse(t, data), mode, strict)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// tree decodes JSON and keeps the spelling of numbers.
func tree(t testing.TB, data []byte) map[string]any {
	t.Helper()
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// at returns the value at the end of a path of names and indexes.
func at(t testing.TB, v any, way ...any) any {
	t.Helper()
	for _, s := range way {
		switch s := s.(type) {
		case string:
			v = v.(map[string]any)[s]
		case int:
			v = v.([]any)[s]
		}
	}
	if v == nil {
		t.Fatalf("nothing at %v", way)
	}
	return v
}

// put sets the value at the end of a path.
func put(t testing.TB, v, with any, way ...any) {
	t.Helper()
	in := at(t, v, way[:len(way)-1]...)
	switch s := way[len(way)-1].(type) {
	case string:
		in.(map[string]any)[s] = with
	case int:
		in.([]any)[s] = with
	}
}
