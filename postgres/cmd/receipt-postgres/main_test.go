package main

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/postgres/internal/pgserver"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger/storetest"
)

// commandVariable is the environment variable that makes the test binary act as the command.
const commandVariable = "RECEIPT_POSTGRES_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(commandVariable) != "" {
		main()
	}
	os.Exit(m.Run())
}

// lines contains command lines that use the ledger LEDGER in a directory with fixtures, each with
// its expected exit code.
var lines = []struct {
	line string
	code int
}{
	{"ledger init LEDGER", 0},
	{"ledger init LEDGER", 2},
	{"ledger import LEDGER valid/task.json valid/full.json", 0},
	{"ledger import LEDGER valid/task.json valid/full.json", 0},
	{"ledger checkpoint LEDGER --key log.json --origin log.example.net/receipts -o two.txt", 0},
	{"ledger import LEDGER valid/minimal.json valid/task-second.json", 0},
	{"ledger checkpoint LEDGER --key log.json --origin log.example.net/receipts --extends two.txt -o four.txt", 0},
	{"batch checkpoint LEDGER --key log.json --origin log.example.net/receipts --extends two.txt -o batch.txt", 0},
	{"batch prove LEDGER --checkpoint four.txt --receipt receipt_01K0FULL -o batch.tlog-proof", 0},
	{"ledger issue LEDGER draft.json --unsigned", 0},
	{"ledger issue LEDGER draft.json --unsigned", 0},
	{"ledger issue LEDGER valid/task.json --unsigned", 1},
	{"ledger head LEDGER", 0},
	{"ledger list LEDGER", 0},
	{"ledger list LEDGER --task task_01K0TASK", 0},
	{"ledger show LEDGER receipt_01K0FULL", 0},
	{"ledger show LEDGER receipt_none", 2},
	{"ledger sign LEDGER receipt_draft --key key.json", 0},
	{"ledger sign LEDGER receipt_draft --key key.json", 0},
	{"ledger export LEDGER -o all.jsonl", 0},
	{"ledger export LEDGER --checkpoint two.txt -o old.jsonl", 0},
	{"ledger prove LEDGER --checkpoint four.txt --receipt receipt_01K0FULL -o full.tlog-proof", 0},
	{"verify --quiet --proof full.tlog-proof valid/full.json", 0},
	{"ledger consistency LEDGER --from-checkpoint two.txt --to-checkpoint four.txt", 0},
	{"ledger fsck LEDGER", 1},
	{"ledger fsck LEDGER --integrity-only", 0},
	{"ledger prune LEDGER --checkpoint two.txt --archive all.jsonl", 1},
	{"ledger prune LEDGER --checkpoint two.txt --archive old.jsonl", 0},
	{"ledger prune LEDGER --checkpoint two.txt --archive old.jsonl", 0},
	{"ledger show LEDGER receipt_01K0FULL", 2},
	{"ledger list LEDGER --pruned", 0},
	{"ledger export LEDGER -o rest.jsonl", 0},
	{"ledger prove LEDGER --checkpoint four.txt --receipt receipt_minimal", 0},
	{"ledger fsck LEDGER --integrity-only", 0},
	{"ledger head LEDGER", 0},
}

// TestCommands verifies that every command has the same output, files, and exit code with
// PostgreSQL as with SQLite, and that no command prints the password in the address.
func TestCommands(t *testing.T) {
	server := pgserver.Start(t)
	address := server.Database(t, "commands")
	file, database := t.TempDir(), t.TempDir()
	for _, dir := range []string{file, database} {
		prepare(t, dir)
	}

	for _, l := range lines {
		code, want := execute(t, file, l.line, "ledger.db")
		if code != l.code {
			t.Errorf("%s: exit code %d, expected %d\n%s", l.line, code, l.code, want)
		}
		code, got := execute(t, database, l.line, address)
		if code != l.code || got != want {
			t.Errorf("%s: over PostgreSQL, exit code %d, expected %d\n%s\nexpected\n%s", l.line, code, l.code, got, want)
		}
	}
	for _, name := range []string{"two.txt", "four.txt", "all.jsonl", "old.jsonl", "rest.jsonl", "full.tlog-proof", "batch.txt", "batch.tlog-proof"} {
		want, err := os.ReadFile(filepath.Join(file, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(database, name))
		if err != nil || !bytes.Equal(signing.ReplaceAll(got, nil), signing.ReplaceAll(want, nil)) {
			t.Errorf("%s differs: %v", name, err)
		}
	}
}

// prepare writes fixtures to a directory.
func prepare(t *testing.T, dir string) {
	t.Helper()
	for name, source := range map[string]string{
		"valid/task.json": "valid/task.json", "valid/full.json": "valid/full.json", "valid/minimal.json": "valid/minimal.json", "valid/task-second.json": "valid/task-second.json",
		"keys.json": "keys/trust.json", "log.json": "keys/log_1.private.json", "key.json": "keys/key_2026_04.private.json",
	} {
		data, err := fixtures.Read(source)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sealed, err := receipt.Seal(storetest.Draft("receipt_draft", "w"), chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(sealed.JSON(), &members); err != nil {
		t.Fatal(err)
	}
	delete(members, "chain")
	delete(members, "signatures")
	data, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "draft.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

var (
	// ofLedger matches the name of a ledger, and messages that are reported only for a ledger in a
	// file.
	ofLedger = regexp.MustCompile(`postgres://[^\s"]*/commands(\?[^\s":]*)?|ledger\.db(, readable only by its owner)?`)

	// unmarked matches the label of the checks that were not made, and the line that is printed if
	// no separate record states where the ledger ends.
	unmarked = regexp.MustCompile(`not checked  (whether receipts follow the head.*\n( {13})?)?`)

	// signing matches the values that differ between two signatures of the same receipt.
	signing = regexp.MustCompile(`"(signature|signed_at|value)":"[^"]*"`)
)

// execute runs a command line with a ledger, and returns the exit code and the output. In the
// output, the name of the ledger is replaced by LEDGER, and text that depends on the kind of ledger
// or on the signatures is removed.
func execute(t *testing.T, dir, line, ledger string) (code int, printed string) {
	t.Helper()
	args := strings.Fields(line)
	if i := slices.Index(args, "LEDGER"); i >= 0 {
		args[i] = ledger
	}
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Dir = dir
	c.Env = append(os.Environ(), commandVariable+"=1", "RECEIPT_KEYS=keys.json", "HOME="+dir)
	out, err := c.CombinedOutput()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	if bytes.Contains(out, []byte(pgserver.Marker)) || bytes.Contains(out, []byte(url.QueryEscape(pgserver.Marker))) {
		t.Errorf("%s prints the password: %s", line, out)
	}
	text := ofLedger.ReplaceAllString(string(out), "LEDGER")
	return c.ProcessState.ExitCode(), unmarked.ReplaceAllString(signing.ReplaceAllString(text, ""), "")
}
