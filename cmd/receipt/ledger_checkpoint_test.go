package main

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// TestLedgerCheckpointDamaged verifies that no checkpoint is signed for a damaged ledger.
func TestLedgerCheckpointDamaged(t *testing.T) {
	for _, test := range []struct {
		damage, want string
		exit         int
	}{
		{"DELETE FROM receipts WHERE position = 2", "chain_break", cli.ExitRefuted},
		{"UPDATE receipts SET json = CAST(replace(CAST(json AS TEXT), '0.1842', '0.1843') AS BLOB) WHERE position = 2", "hash_mismatch", cli.ExitRefuted},
		{"UPDATE receipts SET json = CAST(json || x'0a' || json AS BLOB) WHERE position = 1", `trailing_data: receipt "receipt_1" of the ledger is damaged`, cli.ExitRefuted},
		{"UPDATE receipts SET json = x'7b7d' WHERE position = 3", "not_a_receipt", cli.ExitRefuted},
	} {
		dir := t.TempDir()
		path, key := filepath.Join(dir, "ledger.db"), filepath.Join(dir, "log.json")
		copyFixture(t, "keys/log_1.private.json", key)
		issueThree(t, path)
		sign := []string{"ledger", "checkpoint", path, "--key", key, "--origin", "log.example.net/receipts"}
		code, checkpoint, stderr := command(nil, sign...)
		if code != cli.ExitVerified || !strings.Contains(checkpoint, "\n3\n") {
			t.Fatalf("%d, %s%s", code, checkpoint, stderr)
		}
		prove := []string{"ledger", "prove", path, "--checkpoint", "-", "--receipt", "receipt_1"}
		if code, out, stderr := command(strings.NewReader(checkpoint), prove...); code != cli.ExitVerified || !strings.Contains(out, checkpoint) {
			t.Fatalf("%d, %s%s", code, out, stderr)
		}
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := db.Exec(test.damage); err != nil {
			t.Fatal(err)
		} else if n, err := r.RowsAffected(); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		db.Close()
		if code, out, stderr := command(nil, sign...); code != test.exit || out != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: exit %d, %s%s", test.damage, code, out, stderr)
		}
		if code, out, _ := command(strings.NewReader(checkpoint), prove...); code == cli.ExitVerified || out != "" {
			t.Errorf("%s: proved: %s", test.damage, out)
		}
	}
}

func copyFixture(t *testing.T, name, to string) {
	t.Helper()
	data := readFixture(t, name)
	writeFile(t, to, data)
}

// issueThree creates a ledger that contains receipt_1, receipt_2, and receipt_3.
func issueThree(t *testing.T, path string) {
	t.Helper()
	writeFile(t, path, emptyLedger(t))
	task := readFixture(t, "valid/task.json")
	for _, id := range []string{"receipt_1", "receipt_2", "receipt_3"} {
		draft := strings.Replace(string(draftOf(t, task)), "receipt_01K0TASK", id, 1)
		if code, _, stderr := command(strings.NewReader(draft), "ledger", "issue", path, "-", "--unsigned"); code != cli.ExitVerified {
			t.Fatal(stderr)
		}
	}
}

// TestLedgerPruningDamaged verifies that damage to many receipts is reported for the ledger instead
// of for a receipt without an ID.
func TestLedgerPruningDamaged(t *testing.T) {
	dir := t.TempDir()
	path, key, checkpoint, archive := filepath.Join(dir, "ledger.db"), filepath.Join(dir, "log.json"), filepath.Join(dir, "three.txt"), filepath.Join(dir, "three.jsonl")
	copyFixture(t, "keys/log_1.private.json", key)
	issueThree(t, path)
	sign := []string{"ledger", "checkpoint", path, "--key", key, "--origin", "log.example.net/receipts"}
	for _, args := range [][]string{
		append(sign, "-o", checkpoint),
		{"ledger", "export", path, "--checkpoint", checkpoint, "-o", archive},
		{"ledger", "prune", path, "--checkpoint", checkpoint, "--archive", archive, "--keys", "../../fixtures/keys/trust.json"},
	} {
		if code, _, stderr := command(nil, args...); code != cli.ExitVerified {
			t.Fatal(args, stderr)
		}
	}

	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("DELETE FROM receipts WHERE position = 2"); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := command(nil, sign...)
	if code != cli.ExitRefuted || out != "" || !strings.Contains(stderr, "\nreceipt: error: ledger_missing: the ledger is damaged: of 3 receipts that were pruned") {
		t.Errorf("exit %d, %s%s", code, out, stderr)
	}
}
