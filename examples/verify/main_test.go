package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerify verifies the output and the exit code for each verdict, and for inputs that cannot be
// read.
func TestVerify(t *testing.T) {
	const trusted, fixtures = "../../fixtures/keys/trust.json", "../../fixtures/"
	task, err := os.ReadFile(fixtures + "valid/task.json")
	if err != nil {
		t.Fatal(err)
	}
	unsigned, err := os.ReadFile(fixtures + "malicious/unsigned.json")
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		name, text, prints string
		code               int
	}{
		{"verified", string(task), `input: verified  ""`, 0},
		{"refuted", strings.Replace(string(task), "0.1842", "0.1843", 1), `input: refuted hash_mismatch "/chain/receipt_hash"`, 1},
		{"undecided", string(unsigned), `input: undecided unsigned "/signatures"`, 3},
		{"empty", "", "", 2},
	} {
		path := filepath.Join(t.TempDir(), "receipt.json")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if code := verify(trusted, path, &out); code != c.code || strings.TrimSpace(out.String()) != c.prints {
			t.Errorf("%s: exit code %d, expected %d, and %q, expected %q", c.name, code, c.code, out.String(), c.prints)
		}
	}

	for _, paths := range [][2]string{{"absent", fixtures + "valid/task.json"}, {trusted, "absent"}} {
		if code := verify(paths[0], paths[1], new(strings.Builder)); code != 2 {
			t.Errorf("%q: exit code %d, expected 2", paths, code)
		}
	}
}
