package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestFixtures verifies that all verifiers reach the stated verdict for every fixture.
func TestFixtures(t *testing.T) {
	need(t)
	manifest, err := fixtures.Load()
	if err != nil {
		t.Fatal(err)
	}
	var receipts [][]byte
	for _, c := range manifest.Cases {
		data, err := fixtures.Read(c.File)
		if err != nil {
			t.Fatal(err)
		}
		receipts = append(receipts, data)
	}

	for name, verify := range map[string]verifier{"library": toolkit, "JavaScript": javascript, "Python": python} {
		results, err := verify(receipts)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range manifest.Cases {
			if verdict(results[i]) != c.Verdict.String() {
				t.Errorf("%s: %s: %s, expected %s %s", name, c.File, results[i], c.Verdict, c.Code)
			}
		}
	}
}

// TestMutants verifies that all verifiers reach the same verdict for each mutant, and that all
// three verdicts occur.
func TestMutants(t *testing.T) {
	need(t)
	n := testsize.Of(500, 5000)
	counts, differences, err := compare(n, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differences[:min(5, len(differences))] {
		t.Error(d)
	}

	verdicts := map[string]int{}
	for result, count := range counts {
		verdicts[verdict(result)] += count
	}
	if verdicts["verified"] < n/20 || verdicts["refuted"] < n/20 || verdicts["undecided"] < n/20 {
		t.Errorf("the mutants are one-sided: %v", verdicts)
	}
}

// TestCaseMutants verifies that the JavaScript verifier and the command reach the same verdict for
// each mutant of a case, and that all verdicts occur.
func TestCaseMutants(t *testing.T) {
	need(t)
	n := testsize.Of(100, 500)
	counts, differences, err := compareCases(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differences[:min(5, len(differences))] {
		t.Error(d)
	}
	if counts["valid"] < n/20 || counts["invalid"] < n/20 || counts["undecidable"] < n/20 || counts["no answer"] > n/10 {
		t.Errorf("the mutants are one-sided: %v", counts)
	}
}

// TestDifferent verifies that a verifier with a different verdict is detected, and that a verifier
// with a different code is detected only if codes are compared.
func TestDifferent(t *testing.T) {
	if same([]string{"verified ", "verified ", "refuted syntax"}, false) {
		t.Error("a different verdict was not detected")
	}
	codes := []string{"refuted syntax", "refuted invalid_utf8", "refuted syntax"}
	if !same(codes, false) || same(codes, true) {
		t.Error("a code that differs counts only if codes count")
	}
}

// need skips a test if node is missing, or if Python or its cryptography library is missing. If CI
// is set, the test fails instead.
func need(t *testing.T) {
	t.Helper()
	for _, command := range [][]string{
		{"node", "-e", `crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])`},
		{"python3", "-c", "import cryptography"},
	} {
		out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
		switch {
		case err == nil:
		case os.Getenv("CI") != "":
			t.Fatalf("%v: %v: %s", command, err, out)
		default:
			t.Skipf("%v: %v", command, err)
		}
	}
}

// TestSize verifies that the verifiers are short enough to be read. Blank lines, comments, the
// command line, and the page are not counted. The limits are 900 lines of JavaScript for receipts
// and evidence about them, 140 lines of JavaScript for bundles and replays, and 500 lines of
// Python.
func TestSize(t *testing.T) {
	for _, test := range []struct {
		pattern string
		omit    string
		limit   int
	}{
		{"js/*.mjs", "main page bundle replay", 900},
		{"js/bundle.mjs", "", 40},
		{"js/replay.mjs", "", 100},
		{"python/receipt_verifier/*.py", "", 500},
	} {
		paths, err := filepath.Glob(test.pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: found %d files: %v", test.pattern, len(paths), err)
		}
		lines := 0
		for _, path := range paths {
			if slices.Contains(strings.Fields(test.omit), strings.TrimSuffix(filepath.Base(path), ".mjs")) {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines += codeLines(string(text))
		}
		if lines > test.limit {
			t.Errorf("%s: %d lines, expected at most %d", test.pattern, lines, test.limit)
		}
		t.Logf("%s: %d lines", test.pattern, lines)
	}
}

// docstring matches a Python string that is a separate statement.
var docstring = regexp.MustCompile(`(?ms)^\s*""".*?"""$`)

// codeLines returns the number of lines, not counting blank lines and comments.
func codeLines(text string) int {
	n := 0
	for line := range strings.Lines(docstring.ReplaceAllString(text, "")) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n
}
