package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/scale/terms"
	"github.com/receiptkit/receiptkit/schemas"
)

// left returns the names of the files that a run left in a directory.
func left(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// TestExit verifies that the exit codes equal those of "receipt verify", and that every run with a
// verdict writes all of its files.
func TestExit(t *testing.T) {
	trusted := fixture(t, "keys/trust.json")
	broken := filepath.Join(t.TempDir(), "cut.jsonl.gz")
	write(t, broken, []byte("\x1f\x8b\x08\x00"))
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"verified", []string{"--keys", trusted, "--input", fixture(t, "valid/task.json")}, terms.ExitVerified, "verified: 1 receipts, 1 verified"},
		{"intact", []string{"--integrity-only", "--input", fixture(t, "valid/task.json")}, terms.ExitVerified, "intact: 1 receipts"},
		{"a folder", []string{"--keys", trusted, "--input", fixture(t, "valid")}, terms.ExitVerified, "verified: 17 receipts, 17 verified, 0 refuted, 0 undecided, 1 copies"},
		{"refuted", []string{"--keys", trusted, "--input", fixture(t, "valid/task.json"), "--input", fixture(t, "malicious/expired-key.json")}, terms.ExitRefuted, "refuted: 2 receipts, 1 verified, 1 refuted"},
		{"undecided", []string{"--keys", trusted, "--strict", "--input", fixture(t, "valid/task.json")}, terms.ExitUndecided, "undecided: 1 receipts"},
		{"previous", []string{"--integrity-only", "--previous", "sha256:" + strings.Repeat("ab", 32), "--input", fixture(t, "valid/task.json")}, terms.ExitRefuted, "refuted: 1 receipts"},
		{"head", []string{"--integrity-only", "--expect-head", "sha256:" + strings.Repeat("ab", 32), "--input", fixture(t, "valid/task.json")}, terms.ExitRefuted, "head_mismatch"},
		{"count", []string{"--integrity-only", "--expect-count", "2", "--input", fixture(t, "valid/task.json")}, terms.ExitRefuted, "count_mismatch"},
		{"not read", []string{"--keys", trusted, "--input", fixture(t, "valid/task.json"), "--input", broken}, terms.ExitUsage, "cut.jsonl.gz: not read: "},
		{"empty", []string{"--keys", trusted, "--input", write(t, filepath.Join(t.TempDir(), "empty.jsonl"), nil)}, terms.ExitUsage, "empty.jsonl: not read: "},
	} {
		dir := t.TempDir()
		code, out, messages := runBeam(t, append(test.args, "--output", filepath.Join(dir, "v"))...)
		if code != test.code || messages != "" || !strings.Contains(out, test.want) {
			t.Errorf("%s: exit %d, want %d: %s%s", test.name, code, test.code, out, messages)
		}
		names := strings.Join(left(t, dir), " ")
		if !strings.Contains(names, "v-00000-of-00002.parquet") && test.name != "a folder" && test.name != "refuted" && test.name != "not read" ||
			!strings.HasSuffix(names, "v.json v.ndjson") || strings.Contains(names, "unfinished") {
			t.Errorf("%s: the files %s remain", test.name, names)
		}
	}
}

// TestRefused verifies that a run that is impossible as requested fails with a one-line error and
// writes nothing.
func TestRefused(t *testing.T) {
	trusted, one := fixture(t, "keys/trust.json"), fixture(t, "valid/task.json")
	dir := t.TempDir()
	there := filepath.Join(t.TempDir(), "v")
	write(t, there+"-00000-of-00001.parquet", nil)
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"no input", []string{"--keys", trusted, "--output", filepath.Join(dir, "v")}, "no inputs: specify"},
		{"no output", []string{"--keys", trusted, "--input", one}, "--output is missing"},
		{"nothing matches", []string{"--keys", trusted, "--input", filepath.Join(dir, "*.json"), "--output", filepath.Join(dir, "v")}, "matches no file"},
		{"an empty folder", []string{"--keys", trusted, "--input", t.TempDir(), "--output", filepath.Join(dir, "v")}, "no file there is named *.json"},
		{"no keys", []string{"--input", one, "--output", filepath.Join(dir, "v")}, "no trusted keys:"},
		{"keys that are none", []string{"--keys", one, "--input", one, "--output", filepath.Join(dir, "v")}, "task.json"},
		{"no folder", []string{"--keys", trusted, "--input", one, "--output", filepath.Join(dir, "x", "v")}, "does not exist"},
		{"a folder", []string{"--keys", trusted, "--input", one, "--output", dir + "/"}, "is a directory"},
		{"there already", []string{"--keys", trusted, "--input", one, "--output", there}, "v-00000-of-00001.parquet already exists"},
		{"a name too long", []string{"--keys", trusted, "--input", one, "--output", filepath.Join(dir, strings.Repeat("v", 240))}, "file name too long"},
		{"no such checkpoint", []string{"--keys", trusted, "--input", one, "--checkpoint", filepath.Join(dir, "log.txt"), "--output", filepath.Join(dir, "v")}, "--checkpoint: open "},
		{"no checkpoint", []string{"--keys", trusted, "--input", one, "--checkpoint", one, "--output", filepath.Join(dir, "v")}, "is not a checkpoint"},
		{"no such flag", []string{"--key", trusted}, "unknown flag: --key: see --help"},
		{"an argument", []string{"--keys", trusted, one}, "specify inputs by --input"},
		{"two streams and one hash", []string{"--keys", trusted, "--expect-head", "sha256:" + strings.Repeat("ab", 32), "--input", fixture(t, "valid"), "--output", filepath.Join(dir, "v")}, "input contains several streams"},
		{"no such runner", []string{"--keys", trusted, "--input", one, "--output", filepath.Join(dir, "v"), "--runner", "nobody"}, `unknown --runner "nobody"`},
		{"not waited for", []string{"--keys", trusted, "--input", one, "--output", filepath.Join(dir, "v"), "--async"}, "--async yields no verdict"},
	} {
		code, out, messages := runBeam(t, test.args...)
		for name, value := range map[string]string{"async": "false", "runner": ""} { // Beam's flags are global to the process, so reset them
			if err := runnerFlags().Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		if code != terms.ExitUsage || out != "" || !strings.Contains(messages, test.want) || strings.Count(messages, "\n") != 1 {
			t.Errorf("%s: exit %d, %s%s", test.name, code, out, messages)
		}
		if names := left(t, dir); len(names) > 0 {
			t.Errorf("%s: the files %s remain", test.name, names)
		}
	}
}

// TestSummary verifies that the summary conforms to its schema, contains the heads, and can be
// merged with other summaries.
func TestSummary(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "v")
	if code, out, messages := runBeam(t, "--keys", fixture(t, "keys/trust.json"), "--input", fixture(t, "valid"), "--output", prefix); code != terms.ExitVerified {
		t.Fatalf("exit %d: %s%s", code, out, messages)
	}
	text, err := os.ReadFile(prefix + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var report struct{ Summary json.RawMessage }
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[schemas.Name][]byte{"summary": report.Summary, "verify": text} {
		schema, err := schemas.Compile(name)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := canon.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if found := schema.Check(doc.Root()); found.Total > 0 {
			t.Errorf("by the schema %s: %v", name, found.Problems)
		}
	}
	var sum stream.Summary
	if err := json.Unmarshal(report.Summary, &sum); err != nil {
		t.Fatal(err)
	}
	if sum.Tool != "receipt-beam" || sum.Keys == nil || sum.Inputs.Files != 18 || len(sum.Heads()) != 16 {
		t.Errorf("%s", report.Summary)
	}

	// Merge the summary with a report of "receipt verify" on one of the inputs.
	again, err := os.ReadFile(fixture(t, "valid/task.json"))
	if err != nil {
		t.Fatal(err)
	}
	part, err := stream.Verify(t.Context(), verifier(t, false), bytes.NewReader(again), stream.Options{}).Summary()
	if err != nil {
		t.Fatal(err)
	}
	part.Keys = sum.Keys
	if _, err := sum.Merge(part); err != nil {
		t.Error(err)
	}

	// The next run must accept the result as the report on earlier receipts.
	if code, out, messages := runBeam(t, "--keys", fixture(t, "keys/trust.json"), "--input", fixture(t, "valid"), "--expect-head", prefix+".json", "--output", prefix+"2"); code != terms.ExitVerified || strings.Contains(out, "tail_not_checked") {
		t.Errorf("exit %d: %s%s", code, out, messages)
	}
	if code, out, messages := runBeam(t, "--keys", fixture(t, "keys/trust.json"), "--input", fixture(t, "valid/task.json"), "--expect-head", prefix+".json", "--output", prefix+"3"); code != terms.ExitRefuted || !strings.Contains(out, "truncated") {
		t.Errorf("exit %d: %s%s", code, out, messages)
	}
}
