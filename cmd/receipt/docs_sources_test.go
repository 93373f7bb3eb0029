package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/vectors"
)

// A daily fixture contains the commands from docs/sources.md, and a home directory with real logs.
type daily struct {
	t       *testing.T
	home    string
	session string              // the commands for one session
	blocks  map[string][]string // for daily use, in order, indexed by language
}

// newDaily copies published logs to the directories where agents store their logs. The copies are
// older than a day.
func newDaily(t *testing.T) *daily {
	t.Helper()
	logs := vectors.Dir(t, "sources")
	needs(t, "sh", "git")
	d := &daily{t: t, home: t.TempDir(), blocks: map[string][]string{}}
	for from, to := range map[string]string{"claude-transcript-spotter": ".claude/projects/spotter", "codex-rollout-localpush": ".codex/sessions/2026/02/23"} {
		if err := os.MkdirAll(filepath.Join(d.home, filepath.Dir(to)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(filepath.Join(d.home, to), os.DirFS(filepath.Join(logs, from))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(d.home, "receipts"), 0o700); err != nil {
		t.Fatal(err)
	}

	page := readFile(t, "../../docs/sources.md")
	first, section, _ := strings.Cut(string(page), "\n## Record every day\n")
	_, first, _ = strings.Cut(first, "\n```sh\n")
	d.session, _, _ = strings.Cut(first, "```")
	log := readFile(t, "../../receipt/record/source/testdata/session.jsonl")
	writeFile(t, filepath.Join(d.home, "receipts", "session.jsonl"), log)
	section, _, _ = strings.Cut(section, "\n## ")
	section = regexp.MustCompile(`--since (24h|7d)`).ReplaceAllString(section, "--since 36500d")
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$").FindAllStringSubmatch(section, -1) {
		d.blocks[m[1]] = append(d.blocks[m[1]], m[2])
	}
	if len(d.blocks["sh"]) != 3 || len(d.blocks[""]) != 1 {
		t.Fatalf("docs/sources.md has the blocks %q", d.blocks)
	}
	return d
}

// sh runs commands in the directory of the ledger, as the user who owns the home directory.
func (d *daily) sh(commands string) string {
	d.t.Helper()
	cmd := exec.Command("sh", "-ec", commands)
	cmd.Dir = filepath.Join(d.home, "receipts")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.home, "USER=ada"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s: %v\n%s", commands, err, out)
	}
	return string(out)
}

// TestDailyDocument verifies that the commands in docs/sources.md work in order: for one session,
// and daily with real logs, both with explicit paths and with the defaults set by "receipt init".
func TestDailyDocument(t *testing.T) {
	d := newDaily(t)
	for _, run := range []struct {
		commands string
		want     []string
	}{
		{d.session, []string{"\nreceipt.json: verified\n", "\nVerified      signed by ed25519:"}},
		{d.blocks["sh"][1], []string{"\n5 tasks of 3 sessions: 5 receipts issued, 0 known before\n", "verified: 5 receipts, 5 verified"}},
		{d.blocks["sh"][0], []string{"\nclaude       5 tasks of 3 sessions: 5 receipts issued\n", "\ncodex        7 tasks of 3 sessions: 7 receipts issued\n", "verified: 12 receipts, 12 verified"}},
		{"git init -q; " + d.blocks["sh"][2], []string{"installed ~/.claude/settings.json\n", "installed ~/receipts/.git/hooks/pre-push\n"}},
		{strings.SplitN(d.blocks[""][0], " ", 6)[5], []string{"codex        7 tasks of 3 sessions: 0 receipts issued, 7 known before\n"}}, // the command follows the five time fields of a crontab line
	} {
		out := d.sh(run.commands)
		for _, want := range run.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: expected %q in\n%s", run.commands, want, out)
			}
		}
	}
}
