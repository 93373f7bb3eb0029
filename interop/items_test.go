package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestItems verifies that the library and the verifier in JavaScript refute inputs whose items are
// not objects, in each format of a list.
func TestItems(t *testing.T) {
	need(t)
	dir := t.TempDir()
	command, err := build(dir)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for i, text := range []string{"null", "[null]", `[null, {}]`, `[1]`, `["a"]`, "[[]]", "{}\nnull\n", "{}\n1\n", "\xa0\xf6", "\xa0\x01"} {
		name := fmt.Sprint("input_", i)
		manifest := fmt.Sprintf(`{"schema":"receipt-corpus-case-1","task":"verify","inputs":[{"role":"receipts","file":%q}],"options":{"scope":"integrity"}}`, name)
		for file, content := range map[string]string{name: text, name + ".json": manifest} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		paths = append(paths, filepath.Join(dir, name+".json"))
	}
	for name, asked := range map[string]func() ([]string, error){
		"library":    func() ([]string, error) { return askLibrary(command, paths) },
		"JavaScript": func() ([]string, error) { return ask(append(slices.Clone(javascriptCases), "--cases"), paths) },
	} {
		lines, err := asked()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, line := range lines {
			if outcome(line) != "invalid" {
				t.Errorf("%s, input %d: %q, expected the verdict invalid", name, i, line)
			}
		}
	}
}
