package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const source = `package p

import "errors"

func Check(n int, ok bool) error {
	err := errors.New("no")
	if n < 3 && ok {
		return err
	}
	return nil
}
`

// TestFind verifies that each operator finds the places to which it applies.
func TestFind(t *testing.T) {
	list, err := find("p.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		got = append(got, m.operator)
	}
	const want = "never always left of && right of && compare <= no error"
	if strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTry verifies that a mutant is killed if a test detects it and survives otherwise, and that
// the file on disk does not change.
func TestTry(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.26.0\n", "p/p.go": source,
		"p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc Test(t *testing.T) {\n\tif Check(1, true) == nil || Check(9, true) != nil {\n\t\tt.Fail()\n\t}\n}\n"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := findAll(root, []string{"p"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]outcome{"never": killed, "always": killed, "left of &&": survived, "right of &&": killed, "compare <=": survived, "no error": killed}
	for _, m := range list {
		got, err := m.try(root, t.TempDir(), time.Minute)
		if err != nil || got != want[m.operator] {
			t.Errorf("%s: outcome %d, expected %d: %v", m, got, want[m.operator], err)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(root, "p", "p.go")); string(b) != source || len(list) != len(want) {
		t.Errorf("%d mutants; the file is now %s", len(list), b)
	}
}

// TestEquivalent verifies that each entry in the list of equivalent mutants has an existing file,
// an operator, and a reason.
func TestEquivalent(t *testing.T) {
	all, err := findAll(filepath.Join("..", ".."), strings.Fields(packages))
	if err != nil || len(all) < 1000 {
		t.Fatal(len(all), err)
	}
	for line := range strings.Lines(equivalent) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		known := false
		for _, m := range all {
			known = known || strings.HasPrefix(line, m.key()+": ")
		}
		if !known {
			t.Errorf("no mutant is %q: was the code changed?", line)
		}
	}
}
