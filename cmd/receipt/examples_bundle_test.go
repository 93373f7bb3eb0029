package main

import (
	"os"
	"path/filepath"
	"testing"
)

// addBundles adds a run record and bundles of it.
func addBundles(t *testing.T, files map[string][]byte) {
	t.Helper()
	run, err := os.ReadFile("../../receipt/bundle/testdata/run.json")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "run.json")
	if err := os.WriteFile(path, run, 0o600); err != nil {
		t.Fatal(err)
	}
	files["run.json"] = run
	for name, mode := range map[string]string{"bundle.json": "--replay-only", "local-bundle.json": "--local"} {
		code, text, stderr := command(nil, "bundle", "export", path, mode)
		if code != 0 {
			t.Fatal(stderr)
		}
		files[name] = []byte(text)
	}
}
