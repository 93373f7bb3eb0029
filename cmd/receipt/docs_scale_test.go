package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestScaleDocument runs the commands in docs/scale.md for a machine with many cores, and checks
// their output.
func TestScaleDocument(t *testing.T) {
	needs(t, "bash", "xargs")
	fixtures := absolute(t, "../../fixtures")
	dir := t.TempDir()
	if err := os.Symlink(fixtures, filepath.Join(dir, "fixtures")); err != nil {
		t.Skip(err)
	}

	steps := marked(t, "../../docs/scale.md")
	if len(steps) != 1 {
		t.Fatalf("docs/scale.md has %d marked blocks, expected 1", len(steps))
	}
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", steps[0].commands)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "RECEIPT_KEYS=")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\nverified: ") || !strings.Contains(string(out), "reports      3") {
		t.Fatalf("%v\n%s", err, out)
	}
}
