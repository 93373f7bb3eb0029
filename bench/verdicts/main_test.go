package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures"
)

// program writes a script that replaces the command and refutes files that contain the given word.
func program(t *testing.T, word, code string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "receipt")
	script := `#!/bin/sh
for file; do :; done
if grep -qs ` + word + ` "$file"; then
	echo '{"verdict":"refuted","checks":[{"check":"hash","status":"failed","code":"` + code + `","pointer":""}]}'
	exit 1
fi
echo '{"verdict":"verified","checks":[]}'
`
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCompare verifies that a different exit code and a different code with the same exit code are
// reported as differences, and that identical versions have no differences.
func TestCompare(t *testing.T) {
	dir := t.TempDir()
	receipt, err := fixtures.Read("valid/task.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"a.json": string(receipt), "b.txt": "beans"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	old := program(t, "beans", "one")
	for _, c := range []struct {
		now, says string
		different int
	}{
		{program(t, "beans", "one"), "", 0},
		{program(t, "peas", "one"), "exit 1, now 0", 1},
		{program(t, "beans", "two"), "exit 1, now 1", 1},
	} {
		var out bytes.Buffer
		compared := &comparison{old: old, new: c.now, keys: "keys.json", out: &out}
		if err := compared.all([]string{dir}, 10, 1); err != nil {
			t.Fatal(err)
		}
		if compared.different != c.different || compared.runs != 7 || !strings.Contains(out.String(), c.says) {
			t.Errorf("%d of %d differ, want %d: %s", compared.different, compared.runs, c.different, out.String())
		}
	}
}

// TestMutants verifies that each mutant is a single line, that most mutants differ, and that the
// same seed produces the same mutants.
func TestMutants(t *testing.T) {
	receipt, err := fixtures.Read("valid/task.json")
	if err != nil {
		t.Fatal(err)
	}
	one, again, other := mutantsOf([][]byte{receipt}, 50, 1), mutantsOf([][]byte{receipt}, 50, 1), mutantsOf([][]byte{receipt}, 50, 2)
	if !bytes.Equal(one, again) || bytes.Equal(one, other) || bytes.Count(one, []byte("\n")) != 50 {
		t.Errorf("%d lines", bytes.Count(one, []byte("\n")))
	}
	distinct := map[string]bool{}
	for line := range bytes.Lines(one) {
		distinct[string(line)] = true
	}
	if len(distinct) < 40 {
		t.Errorf("%d distinct mutants of 50", len(distinct))
	}
}
