package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// TestWitnessOfItself verifies that a witness refuses to start with a key of a log that it would
// cosign, even if the log uses another name for the key.
func TestWitnessOfItself(t *testing.T) {
	private, err := keys.Generate(strings.NewReader(strings.Repeat("s", 64)), keys.MLDSA44, "k")
	if err != nil {
		t.Fatal(err)
	}
	secret, err := private.For([]receipt.Role{receipt.RoleWitness}, "witness.example").MarshalPrivate()
	if err != nil {
		t.Fatal(err)
	}
	log, err := private.Public().Log("log.example/receipts")
	if err != nil {
		t.Fatal(err)
	}
	policy := writeFile(t, "policy", fmt.Sprintf("log %v\nquorum none\n", log))
	args := []string{"witness", "--dir", t.TempDir(), "--listen", "127.0.0.1:0", "--key", writeFile(t, "key", string(secret)), "--policy", policy}
	if code, _, errs := command(t, args...); code != exitUsage || !strings.Contains(errs, `is a key of the log "log.example/receipts"`) {
		t.Errorf("exit %d, %s", code, errs)
	}
}
