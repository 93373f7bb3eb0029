package main

import (
	"path/filepath"
	"testing"
)

// addBundles adds a run record and bundles of that run.
func addBundles(t *testing.T, files map[string][]byte) {
	t.Helper()
	run := readFile(t, "../../receipt/bundle/testdata/run.json")
	dir := t.TempDir()
	path := filepath.Join(dir, "run.json")
	writeFile(t, path, run)
	files["run.json"] = run
	for name, mode := range map[string]string{"bundle.json": "--replay-only", "local-bundle.json": "--local"} {
		code, text, stderr := command(nil, "bundle", "export", path, mode)
		if code != 0 {
			t.Fatal(stderr)
		}
		files[name] = []byte(text)
	}
}
