package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestForeignDocument verifies that the example in docs/foreign.md is verified with the imported key.
func TestForeignDocument(t *testing.T) {
	needs(t, "sh")
	steps := marked(t, "../../docs/foreign.md")
	if len(steps) != 1 {
		t.Fatalf("docs/foreign.md has %d marked blocks, expected 1", len(steps))
	}
	cmd := exec.Command("sh", "-ec", steps[0].commands)
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "\nacta.json: verified\n") {
		t.Errorf("%v\n%s", err, out)
	}
}
