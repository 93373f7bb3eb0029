package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLogDocument verifies that the commands in docs/log.md work in an empty directory.
func TestLogDocument(t *testing.T) {
	page, err := os.ReadFile("../../../docs/log.md")
	if err != nil {
		t.Fatal(err)
	}
	draft, err := os.ReadFile("../../../docs/draft.json")
	if err != nil {
		t.Fatal(err)
	}
	bin, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "draft.json"), draft, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"build", "-o", bin, "."}, {"build", "-C", "../../..", "-o", bin, "./cmd/receipt"}} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}

	// All commands run in the same shell. A separator line follows the output of each block.
	const separator = "---- end of "
	// If a command fails, the programs in the background also end.
	script, want := "set -eu\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n", map[string]string{
		"keys":    "",
		"policy":  "",
		"start":   "receipt-log: listening on http://127.0.0.1:",
		"append":  "receipt-log: receipts in the log: 1; not added: 0 invalid, 0 not read or not answered, 0 undecided",
		"verify":  "receipt.json: verified",
		"monitor": "growth log.example.net/receipts from size 0 to 1\n",
		"stop":    "",
	}
	blocks := regexp.MustCompile("(?ms)^<!-- test: (\\w+) -->\n```sh\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	for _, b := range blocks {
		script += b[2] + "echo '" + separator + b[1] + "'\n"
		if b[1] == "append" { // the commands must work with any number of proofs
			script += "cp proofs/*.tlog-proof proofs/sha256-" + strings.Repeat("0", 64) + ".tlog-proof\n"
		}
	}
	if len(blocks) != len(want) {
		t.Fatalf("docs/log.md has %d blocks, expected %d", len(blocks), len(want))
	}
	script = strings.NewReplacer("127.0.0.1:7380", freeAddress(t), "127.0.0.1:7381", freeAddress(t)).Replace(script)

	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+dir, "XDG_CONFIG_HOME=", "RECEIPT_KEYS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rest := string(out)
	for _, b := range blocks {
		printed, after, found := strings.Cut(rest, separator+b[1]+"\n")
		if rest = after; !found || !strings.Contains(printed, want[b[1]]) {
			t.Errorf("block %s: expected %q in %q", b[1], want[b[1]], printed)
		}
	}
}

// freeAddress returns a local address that no process uses.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
