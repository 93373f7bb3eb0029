package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestByHandCommand verifies that the first commands in docs/by-hand.md print both the computed and
// the stated hash of a receipt.
func TestByHandCommand(t *testing.T) {
	needs(t, "sh", "sha256sum")
	page := readFile(t, "../../docs/by-hand.md")
	block := regexp.MustCompile("(?ms)^```sh\n(receipt canon --preimage .*?)^```$").FindSubmatch(page)
	if block == nil {
		t.Fatal("docs/by-hand.md has no block that begins with receipt canon --preimage")
	}
	dir, text := t.TempDir(), fixture(t, "valid/task.json")
	writeFile(t, filepath.Join(dir, "receipt.json"), text)

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
