package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPreCommit verifies that git rejects a commit with a tampered receipt and accepts a commit
// with a valid one. The hook is the one in the committed .pre-commit-hooks.yaml, which pre-commit
// builds.
func TestPreCommit(t *testing.T) {
	needs(t, "pre-commit")
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	revision := strings.TrimSpace(run(t, source, true, "git", "rev-parse", "HEAD"))
	cache := strings.TrimSpace(run(t, source, true, "go", "env", "GOMODCACHE")) // pre-commit sets GOPATH
	t.Setenv("GOMODCACHE", cache)
	t.Setenv("PRE_COMMIT_HOME", t.TempDir())
	t.Setenv("CGO_ENABLED", "0")

	dir := workspace(t, false)
	write(t, dir, ".pre-commit-config.yaml", "repos:\n- repo: "+source+"\n  rev: "+revision+"\n  hooks:\n  - id: receipt-verify\n")
	run(t, dir, true, "git", "init", "--quiet")
	run(t, dir, true, "git", "config", "user.email", "a@example.com")
	run(t, dir, true, "git", "config", "user.name", "a")
	run(t, dir, true, "pre-commit", "install")
	run(t, dir, true, "git", "add", ".")
	if out := run(t, dir, true, "git", "commit", "-m", "good"); !strings.Contains(out, "Passed") {
		t.Errorf("the hook did not run:\n%s", out)
	}

	good := string(fixture(t, "valid/task.json"))
	write(t, dir, "receipts/task.json", tamper(t, good))
	if out := run(t, dir, false, "git", "commit", "-am", "tampered"); !strings.Contains(out, "refuted, hash_mismatch") {
		t.Errorf("the hook did not find the tampered receipt:\n%s", out)
	}
	write(t, dir, "receipts/task.json", strings.Replace(good, "key_2026_04", "key_nobody", 1))
	if out := run(t, dir, false, "git", "commit", "-am", "unknown"); !strings.Contains(out, "undecided") && !strings.Contains(out, "refuted") {
		t.Errorf("the hook did not find the unknown key:\n%s", out)
	}

	write(t, dir, "receipts/task.json", good)
	run(t, dir, true, "git", "rm", "--quiet", "--cached", "receipts/task.json")
	if err := os.Remove(filepath.Join(dir, "receipts/task.json")); err != nil {
		t.Fatal(err)
	}
	if out := run(t, dir, false, "git", "commit", "-m", "removed"); !strings.Contains(out, "receipts") {
		t.Errorf("the hook did not notice the removed receipt:\n%s", out)
	}
}

// run runs a command, checks whether it succeeds or fails as expected, and returns its output.
func run(t *testing.T, dir string, succeeds bool, args ...string) string {
	t.Helper()
	c := exec.Command(args[0], args[1:]...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if (err == nil) != succeeds {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}
