package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures"
)

// TestUnsupportedKey verifies that, if a trust file contains an ML-DSA key, only the receipts that
// this key signed are undecided. It tests JavaScript and Python, which lack the algorithm.
func TestUnsupportedKey(t *testing.T) {
	need(t)
	dir := t.TempDir()
	command, err := build(dir)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, file := range map[string]string{"trust": "keys/trust.json", "known": "valid/task.json"} {
		text, err := fixtures.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		write(name, text)
	}
	draft, err := os.ReadFile("../docs/draft.json")
	if err != nil {
		t.Fatal(err)
	}
	write("draft", draft)
	run := func(arguments ...string) {
		t.Helper()
		cmd := exec.Command(command, arguments...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", arguments, err, out)
		}
	}
	run("keys", "generate", "--alg", "ML-DSA-65", "--id", "quantum", "--issuer", "my_harness", "--private", "quantum.json", "--keys", "trust")
	run("seal", "draft", "--key", "quantum.json", "-o", "signed")

	var paths []string
	for _, name := range []string{"known", "signed"} {
		write(name+".json", []byte(`{"schema":"receipt-corpus-case-1","task":"verify","inputs":[{"role":"receipts","file":"`+name+`"},{"role":"trust","file":"trust"}],"options":{}}`))
		paths = append(paths, filepath.Join(dir, name+".json"))
	}
	answers, err := askLibrary(command, paths)
	if err != nil {
		t.Fatal(err)
	}
	if got := []string{outcome(answers[0]), outcome(answers[1])}; !slices.Equal(got, []string{"valid", "valid"}) {
		t.Errorf("library: %q", got)
	}
	for _, other := range [][]string{javascriptCases, pythonCases} {
		answers, err := ask(append(slices.Clone(other), "--cases"), paths)
		if err != nil {
			t.Fatal(err)
		}
		if got := []string{outcome(answers[0]), outcome(answers[1])}; !slices.Equal(got, []string{"valid", "undecidable"}) {
			t.Errorf("%v: %q", other, got)
		}
	}
}
