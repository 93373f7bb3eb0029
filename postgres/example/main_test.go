package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/postgres/internal/pgserver"
)

// TestRun verifies that two runs of the program issue, list, and check receipts, and that the
// checkpoint covers the receipts from both runs.
func TestRun(t *testing.T) {
	address := pgserver.Start(t).Database(t, "example")
	text, err := os.ReadFile("../../docs/draft.json")
	if err != nil {
		t.Fatal(err)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, text); err != nil {
		t.Fatal(err)
	}
	for i, id := range []string{"receipt_1", "receipt_2"} {
		var out bytes.Buffer
		run(t.Context(), address, "../../fixtures/keys/key_2026_04.private.json", "my_harness", strings.NewReader(strings.ReplaceAll(line.String(), "receipt_example_1", id)), &out)
		lines := strings.Split(out.String(), "\n")
		if len(lines) < 3+i || !strings.HasPrefix(lines[i], []string{"1 receipt_1 sha256:", "2 receipt_2 sha256:"}[i]) {
			t.Fatalf("printed:\n%s", out.String())
		}
		want := []string{[]string{"1 receipts: verified", "2 receipts: verified"}[i], "example.net/receipts", []string{"1", "2"}[i]}
		if got := lines[i+1 : i+4]; strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("printed %q, expected %q", got, want)
		}
	}
}
