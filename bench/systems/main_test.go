package main

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestLoad verifies that an error in a file for one system is found for this system only.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":       "module example.org/m\n\ngo 1.26.0\n",
		"a.go":         "package a\n",
		"a_windows.go": "package a\n\nvar number int = \"text\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for target, want := range map[string]int{"windows/arm64": 1, "darwin/arm64": 0} {
		list, err := load(dir, target)
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %d packages, %v", target, len(list), err)
		}
		errs := 0
		packages.Visit(list, nil, func(p *packages.Package) { errs += len(p.Errors) })
		if errs != want {
			t.Errorf("%s: %d errors, expected %d", target, errs, want)
		}
	}
}
