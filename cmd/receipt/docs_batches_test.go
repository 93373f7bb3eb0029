package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// fewer contains replacements for parts of the commands in docs/batches.md. With these
// replacements, the commands process forty drafts instead of a thousand, and draft number 417
// becomes number 17. Each key occurs exactly once on the page.
var fewer = map[string]string{"seq -w 1 1000": "seq -w 0401 0440", "sed -n 417p": "sed -n 17p", "sed -n 418p": "sed -n 18p"}

// TestBatchesDocument verifies that the commands in docs/batches.md print the output shown on the
// page. It uses a thousand receipts at full size, and forty otherwise.
func TestBatchesDocument(t *testing.T) {
	needs(t, "bash")
	dir := t.TempDir()
	draft := readFile(t, "../../docs/draft.json")
	writeFile(t, filepath.Join(dir, "draft.json"), draft)
	want := map[string]struct {
		exit   int
		output []string
	}{
		"keys":       {0, nil},
		"seal":       {0, nil},
		"checkpoint": {0, nil},
		"whole":      {0, []string{"verified: 1,000 of 1,000 receipts", "1,000 receipts, head sha256:"}},
		"prove":      {0, nil},
		"verify":     {0, []string{"0417.json: verified", "passed       parse schema hash batch signatures"}},
		"another":    {1, []string{"refuted, proof_invalid"}},
		"cosign":     {0, []string{"cosigned: 1,000 receipts, root ", "signed by    log_1", "witness      witness_1", "verified: 1,000 of 1,000 receipts"}},
	}
	steps := marked(t, "../../docs/batches.md")
	if len(steps) != len(want) {
		t.Fatalf("docs/batches.md has %d marked blocks, expected %d", len(steps), len(want))
	}
	count := "1,000"
	if !testsize.Full() {
		count = "40"
		for from, to := range fewer {
			found := 0
			for i := range steps {
				found += strings.Count(steps[i].commands, from)
				steps[i].commands = strings.ReplaceAll(steps[i].commands, from, to)
			}
			if found != 1 {
				t.Fatalf("docs/batches.md has %q %d times, expected once", from, found)
			}
		}
	}
	for _, s := range steps {
		expected, ok := want[s.name]
		if !ok {
			t.Fatalf("docs/batches.md has an unexpected block %q", s.name)
		}
		cmd := exec.Command("bash", "-euo", "pipefail", "-c", s.commands)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "RECEIPT_KEYS=")
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != expected.exit {
			t.Fatalf("%s: exit %d, expected %d:\n%s", s.name, code, expected.exit, out)
		}
		for _, line := range expected.output {
			if line = strings.ReplaceAll(line, "1,000", count); !strings.Contains(string(out), line) {
				t.Errorf("%s: expected %q in\n%s", s.name, line, out)
			}
		}
	}
}

type step struct{ name, commands string }

// marked returns, in order, the fenced blocks that follow the comment "<!-- test: NAME -->".
func marked(t *testing.T, file string) (steps []step) {
	t.Helper()
	doc := readFile(t, file)
	for _, m := range regexp.MustCompile("(?ms)^<!-- test: ([a-z]+) -->\n```sh\n(.*?)^```$").FindAllStringSubmatch(string(doc), -1) {
		steps = append(steps, step{m[1], m[2]})
	}
	return steps
}
