package schemas_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/schemas"
)

// suite runs one file from the JSON Schema Test Suite. This module's parser parses the file, its
// schemas, and its instances.
func suite(t *testing.T, atLeast int, name string) {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(vectors.Dir(t, "json-schema-suite"), "tests", "draft2020-12", name))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := canon.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for _, group := range doc.Root().Elements() {
		s, err := schemas.CompileText("https://schemas.invalid/x", group.Member("schema").Raw(), schemas.Embedded{})
		if err != nil {
			t.Errorf("%s: %v", group.Member("description"), err)
			continue
		}
		for _, c := range group.Member("tests").Elements() {
			cases++
			got, want := s.Check(c.Member("data")), c.Member("valid").Bool()
			if (got.Total == 0) != want {
				t.Errorf("%s, %s, %s: valid %t, %v", group.Member("description"), c.Member("description"), c.Member("data").Raw(), want, got.Problems)
			}
		}
	}
	if cases < atLeast {
		t.Errorf("%s has %d cases, expected at least %d", name, cases, atLeast)
	}
}

// TestSuite runs the files in the suite that concern keywords in the embedded schemas.
func TestSuite(t *testing.T) {
	for name, atLeast := range map[string]int{
		"additionalProperties.json":      21,
		"const.json":                     54,
		"enum.json":                      45,
		"minLength.json":                 7,
		"pattern.json":                   12,
		"required.json":                  16,
		"type.json":                      80,
		"uniqueItems.json":               69,
		"infinite-loop-detection.json":   2,
		"optional/format/date-time.json": 33, // receipts use no other format
	} {
		t.Run(name, func(t *testing.T) { suite(t, atLeast, name) })
	}
}
