package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures"
)

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// readFixture reads a file of package fixtures, regardless of the working directory.
func readFixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := fixtures.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// writeFile writes a file that only its owner can read, which is required for private keys.
func writeFile[T string | []byte](t testing.TB, path string, data T) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

// needs skips a test if a program that it runs is missing.
func needs(t testing.TB, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip(err)
		}
	}
}

func absolute(t testing.TB, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
