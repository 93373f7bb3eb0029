package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// TestFixtures verifies that all verifiers reach the stated verdict of every fixture.
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

// TestMutants verifies that all verifiers reach the same verdict on mutants, and that the mutants
// reach all three.
func TestMutants(t *testing.T) {
	need(t)
	n := 500
	if testsize.Full() {
		n = 5000
	}
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

// TestDifferent verifies that a verifier with another verdict is noticed, and one with another code
// only if codes count.
func TestDifferent(t *testing.T) {
	if same([]string{"verified ", "verified ", "refuted syntax"}, false) {
		t.Error("a verdict that differs was not noticed")
	}
	codes := []string{"refuted syntax", "refuted invalid_utf8", "refuted syntax"}
	if !same(codes, false) || same(codes, true) {
		t.Error("a code that differs counts only if codes count")
	}
}

// need skips a test if node, or Python with its cryptography library, is missing. With CI set, it
// fails.
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
