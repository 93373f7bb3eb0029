package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTell: a line for each form, and an error for a table that takes too much.
func TestTell(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "table.csv"), make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		seconds, memory float64
		good            bool
	}{{2.4, 100, true}, {2.6, 100, false}, {2.4, 130, false}} {
		var with, without cost
		without.add(2, 2, 60)
		with.add(test.seconds, 2, test.memory)
		var out bytes.Buffer
		err := tell(&out, dir, 10, []string{"", ".csv"}, []cost{without, with}, true)
		if (err == nil) != test.good || strings.Count(out.String(), "\n") != 5 || !strings.Contains(out.String(), "100\n") {
			t.Errorf("%+v: %v\n%s", test, err, &out)
		}
	}
}

// TestRun: what is measured is a verification that ends well, and writes its table.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	if err := writeCorpus(dir, 20); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "corpus.jsonl"))
	if err != nil || bytes.Count(text, []byte("\n")) != 20 {
		t.Fatal(len(text), err)
	}
	if _, _, err := run(filepath.Join(dir, "absent"), dir, ""); err == nil {
		t.Error("no command, no error")
	}
}
