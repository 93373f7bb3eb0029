//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

// These constants specify what folderOfLogs writes.
const (
	folderTasks  = 3 // per session
	folderTokens = 7 // tokens used by each task
)

// folderOfLogs changes to a new directory that contains sessions, an empty ledger, and a key. It
// returns the number of sessions.
func folderOfLogs(t *testing.T) (sessions int) {
	t.Helper()
	sessions = testsize.Of(5, 40) // one session or more in each directory
	key := fixture(t, "keys/key_2026_04.private.json")
	t.Chdir(t.TempDir())
	writeFile(t, "key.json", key)
	receiptRun(t, 0, "ledger", "init", "work.db")
	for s := range sessions {
		var b bytes.Buffer
		for n := range folderTasks {
			at := time.Date(2026, 4, 25, 10, s, 10*n, 0, time.UTC).Format(time.RFC3339)
			fmt.Fprintf(&b, `{"type":"user","sessionId":"s-%d","cwd":"/w/shop-%d","timestamp":%q,"uuid":"u-%d-%d","message":{"role":"user","content":"go on "}}`+"\n", s, s%3, at, s, n)
			fmt.Fprintf(&b, `{"type":"assistant","sessionId":"s-%d","cwd":"/w/shop-%d","gitBranch":"password=Xk29vmQpLr81","timestamp":%q,"uuid":"a-%d-%d","message":{"id":"msg-%d-%d","role":"assistant","model":"m","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":%d}}}`+"\n", s, s%3, at, s, n, s, n, folderTokens)
		}
		path := filepath.Join("logs", fmt.Sprint("p", s%5), fmt.Sprintf("s-%d.jsonl", s))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, b.Bytes())
	}
	return sessions
}

// receiptRun runs the command in a separate process.
func receiptRun(t *testing.T, code int, args ...string) string {
	t.Helper()
	cmd := exec.Command("receipt", args...)
	var message bytes.Buffer
	cmd.Stderr = &message
	out, err := cmd.Output()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		t.Fatalf("receipt %s: %v\n%s%s", strings.Join(args, " "), err, out, &message)
	}
	return string(out)
}

func recordFolder() []string {
	return []string{"record", "logs", "--each", "task", "--issuer", "harness_example_cloud", "--ledger", "work.db", "--key", "key.json", "--format", "json"}
}

// issued returns the number of receipts that a run reports as issued.
func issued(t *testing.T, out string) int {
	t.Helper()
	var result struct{ Counts map[string]int }
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return result.Counts["made"]
}

// allOnce verifies that the ledger contains exactly one receipt for each task in the given number
// of sessions.
func allOnce(t *testing.T, sessions int) {
	t.Helper()
	receiptRun(t, 0, "ledger", "fsck", "work.db", "--integrity-only")
	seen, tokens := map[string]int{}, 0
	for line := range strings.Lines(receiptRun(t, 0, "ledger", "export", "work.db")) {
		var r struct {
			Subject        struct{ ID string }
			AutonomyBudget struct {
				Consumed struct {
					Output int `json:"output_tokens"`
				}
			} `json:"autonomy_budget"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		seen[r.Subject.ID]++
		tokens += r.AutonomyBudget.Consumed.Output
	}
	if len(seen) != sessions*folderTasks || tokens != sessions*folderTasks*folderTokens {
		t.Errorf("%d tasks took %d tokens, expected %d and %d", len(seen), tokens, sessions*folderTasks, sessions*folderTasks*folderTokens)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s has %d receipts", id, n)
		}
	}
}

// TestRecordFolderKilled verifies that, if a recording is killed at any time, the next run neither
// loses a receipt nor issues one twice.
func TestRecordFolderKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the command many times")
	}
	sessions := folderOfLogs(t)
	began := time.Now()
	receiptRun(t, 0, append(recordFolder(), "--dry-run")...)
	took := time.Since(began)

	kills := testsize.Of(8, 20, 60)
	during := 0 // the command was still running when it was killed
	for n := range kills {
		cmd := exec.Command("receipt", recordFolder()...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}

		// Kill the first runs early and the later runs at any time, because a run with nothing left
		// to record is short.
		of := time.Duration(kills * kills)
		time.Sleep(2*took*time.Duration(n*n)/of + rand.N(2*took*time.Duration(n+1)/of))
		_ = cmd.Process.Kill()
		if cmd.Wait(); cmd.ProcessState.ExitCode() != 0 {
			during++
		}
	}
	if during == 0 {
		t.Error("no run was killed before it ended")
	}
	receiptRun(t, 0, recordFolder()...)
	allOnce(t, sessions)
	if n := issued(t, receiptRun(t, 0, recordFolder()...)); n != 0 {
		t.Errorf("%d receipts were issued again", n)
	}
}

// TestRecordFolderAtOnce verifies that each of several concurrent recordings reports only the
// receipts that it issued, and that together they issue each receipt once.
func TestRecordFolderAtOnce(t *testing.T) {
	sessions := folderOfLogs(t)
	const runs = 4
	outs, errs := make([][]byte, runs), make([]error, runs)
	var group sync.WaitGroup
	for n := range runs {
		group.Go(func() { outs[n], errs[n] = exec.Command("receipt", recordFolder()...).Output() })
	}
	group.Wait()

	sum := 0
	for n, out := range outs {
		if errs[n] != nil {
			t.Fatalf("%v: %s", errs[n], out)
		}
		sum += issued(t, string(out))
	}
	if sum != sessions*folderTasks {
		t.Errorf("the runs say that they issued %d receipts, expected %d", sum, sessions*folderTasks)
	}
	allOnce(t, sessions)
}

// TestRecordOddFolder verifies that links, unreadable files, and files that are not logs are
// reported, and that they do not prevent the recording of other files.
func TestRecordOddFolder(t *testing.T) {
	sessions := folderOfLogs(t)
	outside := filepath.Join(t.TempDir(), "outside.jsonl")
	text := readFile(t, "logs/p0/s-0.jsonl")
	writeFile(t, outside, bytes.ReplaceAll(text, []byte("s-0"), []byte("outside")))
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(os.Symlink(outside, "logs/link.jsonl"))
	do(os.Symlink("..", "logs/p0/loop"))
	do(syscall.Mkfifo("logs/pipe.jsonl", 0o600))
	do(os.WriteFile("logs/two\nlines.jsonl", bytes.ReplaceAll(text, []byte("s-0"), []byte("odd")), 0o600))
	do(os.WriteFile("logs/empty.jsonl", nil, 0o600))
	do(os.WriteFile("logs/random.jsonl", bytes.Repeat([]byte{0xff, 0x00, '\n'}, 1000), 0o600))
	do(os.WriteFile("logs/torn.jsonl.gz", []byte("\x1f\x8b\x08\x00\x00"), 0o600))
	code := 2
	if os.Geteuid() != 0 { // the root user can read all files
		do(os.Mkdir("logs/closed", 0))
		do(os.WriteFile("logs/closed.jsonl", text, 0))
	}

	out := receiptRun(t, code, recordFolder()...)
	var result struct {
		Counts map[string]int
		Files  []struct{ Status, Source, Detail string }
	}
	do(json.Unmarshal([]byte(out), &result))
	if n := result.Counts["made"]; n != (sessions+1)*folderTasks || strings.Contains(out, "outside") || strings.Contains(out, "Xk29vmQpLr81") {
		t.Errorf("%d receipts: %s", n, out)
	}
	got := map[string]string{}
	for _, f := range result.Files {
		got[f.Source] = f.Status + ": " + f.Detail
	}
	want := map[string]string{
		"logs/link.jsonl": "skipped: a symbolic link, not followed", "logs/p0/loop": "skipped: a symbolic link, not followed", "logs/pipe.jsonl": "skipped: a named pipe",
		"logs/empty.jsonl": "skipped: it is empty", "logs/random.jsonl": "skipped: not a known log format",
	}
	if os.Geteuid() != 0 {
		want["logs/closed"], want["logs/closed.jsonl"] = "unreadable: permission denied", "unreadable: permission denied"
	}
	for source, detail := range want {
		if got[source] != detail {
			t.Errorf("%s is %q, expected %q", source, got[source], detail)
		}
	}
	if !strings.HasPrefix(got["logs/torn.jsonl.gz"], "unreadable: ") {
		t.Errorf("a torn file is %q", got["logs/torn.jsonl.gz"])
	}
}

// TestRecordFolderInterrupted verifies that an interrupted recording reports the receipts that it
// issued, and that the next run issues the remaining ones.
func TestRecordFolderInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the command many times")
	}
	sessions := folderOfLogs(t)
	began := time.Now()
	receiptRun(t, 0, append(recordFolder(), "--dry-run")...)
	took := time.Since(began)

	const interruptions = 6
	sum := 0
	for n := range interruptions {
		cmd := exec.Command("receipt", recordFolder()...)
		var out, message bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &message
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(took * time.Duration(n) / 4)
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code > 0 && out.Len() > 0 && !strings.Contains(message.String(), "hint: run the same command again: nothing is recorded twice") {
			t.Errorf("exit %d: %s%s", code, &out, &message)
		}
		if out.Len() > 0 {
			sum += issued(t, out.String())
		}
	}
	sum += issued(t, receiptRun(t, 0, recordFolder()...))
	if most := sessions * folderTasks; sum > most || sum < most-interruptions { // a receipt that is being stored during the interruption is not reported
		t.Errorf("the runs say that they issued %d receipts, expected %d, but for one each time", sum, most)
	}
	allOnce(t, sessions)
}
