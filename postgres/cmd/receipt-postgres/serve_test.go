package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/postgres/internal/pgserver"
)

// TestServe verifies that the verification server serves a ledger at an address, and verifies the
// receipts in the ledger.
func TestServe(t *testing.T) {
	address := pgserver.Start(t).Database(t, "served")
	dir := t.TempDir()
	prepare(t, dir)
	for _, line := range []string{"ledger init LEDGER", "ledger import LEDGER valid/task.json"} {
		if code, out := execute(t, dir, line, address); code != 0 {
			t.Fatalf("%s: exit code %d\n%s", line, code, out)
		}
	}

	c := exec.CommandContext(t.Context(), os.Args[0], "serve", "--ledger", address, "--addr", "127.0.0.1:0")
	c.Dir = dir
	c.Env = append(os.Environ(), commandVariable+"=1", "RECEIPT_KEYS=keys.json", "HOME="+dir)
	var messages strings.Builder
	c.Stderr = &messages
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	root, listening := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !listening {
		t.Fatalf("the server prints %q, %v", line, err)
	}

	want := func(method, path, text string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(root, "/")+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Harn-Agents-Protocol-Version", "agents-protocol-2026-04-25")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || !strings.Contains(string(body), text) {
			t.Errorf("%s %s: %s %s, %v, expected %q", method, path, response.Status, body, err, text)
		}
	}
	want("GET", "/v1/receipts/receipt_01K0TASK", `"receipt_id":"receipt_01K0TASK"`)
	want("POST", "/v1/receipts/receipt_01K0TASK/verify", `"valid":true`)
	want("GET", "/v1/receipts/receipt_none", "resource_not_found")

	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil || strings.Contains(messages.String(), pgserver.Marker) {
		t.Errorf("the server ends with %v, after the messages %s", err, messages.String())
	}
}
