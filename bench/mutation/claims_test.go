package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestClaims verifies that everything mentioned in the claims exists, and that docs/claims.md is
// generated from the claims.
func TestClaims(t *testing.T) {
	root := filepath.Join("..", "..")
	claims, err := parseClaims(claimsText)
	if err != nil {
		t.Fatal(err)
	}
	mutants, err := broken(root, claims)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range claims {
		if err := c.check(root, mutants); err != nil {
			t.Error(err)
		}
	}
	want, err := table(root, claims)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(root, "docs", "claims.md")); err != nil || string(got) != want {
		t.Errorf("docs/claims.md differs from claims.txt: run go generate in bench/: %v", err)
	}
}

// TestClaimsDiffer verifies that claims that mention missing things are reported.
func TestClaimsDiffer(t *testing.T) {
	for _, text := range []string{
		"README.md: no such promise\ntest: receipt TestEveryLeaf",
		"README.md: Run the tests\ntest: receipt TestNoSuchTest",
		"README.md: Run the tests\ntest: receipt TestEveryLeaf\nfuzz: receipt FuzzNoSuchTarget",
		"README.md: Run the tests\ntest: receipt TestEveryLeaf\nmutant: receipt/hash.go: never: no such code",
		"README.md: Run the tests",
	} {
		claims, err := parseClaims(text)
		if err != nil || len(claims) != 1 {
			t.Fatal(claims, err)
		}
		if claims[0].check(filepath.Join("..", ".."), nil) == nil {
			t.Errorf("nothing is missing in %q", text)
		}
	}
	for _, text := range []string{"test: receipt TestEveryLeaf", "README.md: a\nnothing", "README.md: a\nproof: b", "README.md: a\nmutant: m\nREADME.md: b\nmutant: m"} {
		if _, err := parseClaims(text); err == nil || !strings.Contains(err.Error(), "claims.txt") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
