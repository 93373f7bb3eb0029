package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/vectors"
)

// A daily is a home directory with real logs, and the commands of docs/sources.md for daily use.
type daily struct {
	t      *testing.T
	home   string
	blocks map[string][]string // by language, in order
}

// newDaily copies published logs to where agents store theirs. They are older than a day.
func newDaily(t *testing.T) *daily {
	t.Helper()
	logs := vectors.Dir(t, "sources")
	needs(t, "sh")
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
	_, section, _ := strings.Cut(string(page), "\n## Record every day\n")
	section, _, _ = strings.Cut(section, "\n## ")
	section = regexp.MustCompile(`--since (24h|7d)`).ReplaceAllString(section, "--since 36500d")
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$").FindAllStringSubmatch(section, -1) {
		d.blocks[m[1]] = append(d.blocks[m[1]], m[2])
	}
	if len(d.blocks["sh"]) != 2 || len(d.blocks["json"]) != 1 || len(d.blocks[""]) != 1 || len(d.blocks["ini"]) != 1 {
		t.Fatalf("docs/sources.md has the blocks %q", d.blocks)
	}
	return d
}

// sh runs commands in the directory of the ledger.
func (d *daily) sh(commands, in string) string {
	d.t.Helper()
	cmd := exec.Command("sh", "-ec", commands)
	cmd.Dir = filepath.Join(d.home, "receipts")
	cmd.Env = append(os.Environ(), "HOME="+d.home, "RECEIPT_KEYS=", "XDG_CONFIG_HOME=")
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s: %v\n%s", commands, err, out)
	}
	return string(out)
}

// said returns the output that the hook and the jobs logged, and clears the log.
func (d *daily) said() string {
	d.t.Helper()
	return d.sh("cat record.log; : >record.log", "")
}

// waited is like said, but first waits until the detached recording of the hook has logged text and
// then pauses.
func (d *daily) waited(text string) string {
	d.t.Helper()
	before := ""
	for range 300 {
		time.Sleep(200 * time.Millisecond)
		out := d.sh("cat record.log 2>/dev/null || :", "")
		if strings.Contains(out, text) && out == before {
			break
		}
		before = out
	}
	return d.said()
}

// TestDailyDocument verifies that the commands of docs/sources.md for daily use work with real
// logs: transcripts become verified receipts in one command, and later by a hook at the end of a
// session, a cron job, and a systemd unit.
func TestDailyDocument(t *testing.T) {
	d := newDaily(t)
	project := filepath.Join(d.home, ".claude/projects/spotter")
	late := filepath.Join(d.home, "late.jsonl")
	if err := os.Rename(filepath.Join(project, "short.jsonl"), late); err != nil {
		t.Fatal(err)
	}
	out := d.sh(d.blocks["sh"][0], "")
	for _, want := range []string{"\n4 tasks of 2 sessions: 4 receipts issued, 0 known before\n", "\nverified: 4 of 4 receipts"} {
		if !strings.Contains(out, want) {
			t.Errorf("expected %q in\n%s", want, out)
		}
	}

	// The hook: a session has just ended.
	if err := os.Rename(late, filepath.Join(project, "short.jsonl")); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(d.home, "receipts", "record.sh")
	writeFile(t, script, d.blocks["sh"][1])
	var settings struct {
		Hooks struct {
			SessionEnd []struct{ Hooks []struct{ Command string } }
		}
	}
	if err := json.Unmarshal([]byte(d.blocks["json"][0]), &settings); err != nil {
		t.Fatal(err)
	}
	d.sh(settings.Hooks.SessionEnd[0].Hooks[0].Command, `{"session_id":"55604662-cf2a-4331-851a-ec234028f8ca","transcript_path":"`+project+`/short.jsonl","hook_event_name":"SessionEnd","reason":"exit"}`)
	if out := d.waited(" known before\n"); !strings.Contains(out, "5 tasks of 3 sessions: 1 receipt issued, 4 known before\n") {
		t.Errorf("the hook recorded %s", out)
	}

	// Cron: five fields and a command.
	d.sh(strings.SplitN(d.blocks[""][0], " ", 6)[5], "")
	if out := d.said(); !strings.Contains(out, "7 tasks of 3 sessions: 7 receipts issued, 0 known before\n") {
		t.Errorf("cron recorded %s", out)
	}
	_, command, _ := strings.Cut(d.blocks["ini"][0], "ExecStart=")
	command, _, _ = strings.Cut(command, "\n")
	if out := d.sh(strings.ReplaceAll(command, "%h", d.home), ""); !strings.Contains(out, "7 tasks of 3 sessions: 0 receipts issued, 7 known before\n") {
		t.Errorf("systemd recorded %s", out)
	}
	if out := d.sh("receipt ledger fsck work.db --keys trust.json", ""); !strings.Contains(out, "verified: 12 receipts, 12 verified") {
		t.Errorf("the ledger is %s", out)
	}
}
