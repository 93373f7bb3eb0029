package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// TestServeLedger verifies that the server serves receipts that another process issues while the
// server runs.
func TestServeLedger(t *testing.T) {
	dir := t.TempDir()
	path, draft := filepath.Join(dir, "ledger.db"), filepath.Join(dir, "draft.json")
	writeFile(t, path, emptyLedger(t))
	task := readFixture(t, "valid/task.json")
	writeFile(t, draft, draftOf(t, task))
	secret := readFixture(t, "keys/key_2026_04.private.json")
	key, keys := filepath.Join(dir, "key.json"), absolute(t, "../../fixtures/keys/trust.json")
	writeFile(t, key, secret)
	r := startServe(t, dir, "--addr", "127.0.0.1:0", "--keys", keys, "--ledger", path)
	const version = "Harn-Agents-Protocol-Version: agents-protocol-2026-04-25"
	if status, answer := r.do("GET", "/v1/receipts/receipt_01K0TASK", "", version); status != 404 {
		t.Errorf("before it is issued: %d %s", status, answer)
	}
	code, issued, stderr := command(nil, "ledger", "issue", path, draft, "--key", key)
	if code != 0 {
		t.Fatal(stderr)
	}
	for _, route := range []string{"/v1/receipts/receipt_01K0TASK", "/v1/tasks/task_01K0TASK/receipts"} {
		if status, answer := r.do("GET", route, "", version); status != 200 || !strings.Contains(answer, strings.TrimSpace(issued)) {
			t.Errorf("%s: %d %s", route, status, answer)
		}
	}
	if status, answer := r.do("POST", "/v1/receipts/receipt_01K0TASK/verify", "{}", version, "Content-Type: application/json"); status != 200 || !strings.Contains(answer, `"valid":true`) {
		t.Errorf("verify: %d %s", status, answer)
	}
	for _, args := range [][]string{{"--ledger", filepath.Join(dir, "absent")}, {"--ledger", draft}, {"--ledger", path, "--receipts", draft}} {
		if code, _, stderr := command(nil, append([]string{"serve", "--addr", "127.0.0.1:0", "--integrity-only"}, args...)...); code != cli.ExitUsage || stderr == "" {
			t.Errorf("%q: exit %d, %q", args, code, stderr)
		}
	}
}
