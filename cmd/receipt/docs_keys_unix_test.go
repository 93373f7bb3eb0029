//go:build unix

package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestKeysPage verifies that the commands in docs/keys.md for a key in an ssh-agent work.
func TestKeysPage(t *testing.T) {
	needs(t, "ssh-agent", "ssh-keygen", "ssh-add")
	page := readFile(t, "../../docs/keys.md")
	draft := readFile(t, "../../docs/draft.json")
	block := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindStringSubmatch(string(page))
	if block == nil || !strings.Contains(block[1], "ssh-agent") {
		t.Fatal("docs/keys.md has no block that begins with an ssh-agent")
	}

	// The path of a socket must be short, and the path of a test directory may be too long.
	dir, err := os.MkdirTemp("", "page")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Chdir(dir)
	writeFile(t, "draft.json", draft)
	cmd := exec.Command("sh", "-ec", "trap 'ssh-agent -k' EXIT\n"+block[1])
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "receipt.json: verified\n") || !strings.Contains(string(out), "signed by    key_2026_04, ed25519, trusted for my_harness\n") {
		t.Errorf("%v, %s", err, out)
	}
}
