package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestByHandCommand verifies that the first commands in docs/by-hand.md print the computed hash of a
// receipt and the stated one.
func TestByHandCommand(t *testing.T) {
	for _, program := range []string{"sh", "sha256sum"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("no " + program + " in PATH")
		}
	}
	page, err := os.ReadFile("../../docs/by-hand.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?ms)^```sh\n(receipt canon --preimage .*?)^```$").FindSubmatch(page)
	if block == nil {
		t.Fatal("docs/by-hand.md has no block that begins with receipt canon --preimage")
	}
	dir, text := t.TempDir(), fixture(t, "valid/task.json")
	if err := os.WriteFile(filepath.Join(dir, "receipt.json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}

	cmd := exec.Command("sh", "-e", "-c", string(block[1]))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	stated := regexp.MustCompile(`"receipt_hash": *"(sha256:([0-9a-f]{64}))"`).FindStringSubmatch(text)
	if want := fmt.Sprintf("%s  -\n\"receipt_hash\":%q\n", stated[2], stated[1]); string(out) != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}
