package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestAudit verifies that the audit lists the orders whose receipts are refuted, undecided, or not
// completely checked.
func TestAudit(t *testing.T) {
	const trusted = "../../fixtures/keys/trust.json"
	var messages []string
	for order, path := range []string{"valid/task.json", "malicious/unsigned.json", "valid/full.json", "malicious/changed-cost.json"} {
		text, err := os.ReadFile("../../fixtures/" + path)
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, fmt.Sprintf(`{"order": %d, "receipt": %s}`, order+1, text))
	}

	const notes = "1 not checked: unauthenticated_members\n1 not checked: redactions_not_checked\n"
	for name, c := range map[string]struct {
		keys               keyFile
		queue, prints, err string
	}{
		"verified": {trusted, messages[0], notes, ""},
		"cut off":  {trusted, messages[0] + messages[1][:100], notes, "unexpected EOF"},
		"no keys":  {"absent", messages[0], "1 undecided trust_unavailable /signatures/0\n", "open absent"},
		"unsigned": {trusted, messages[1], "2 undecided unsigned /signatures\n", "the queue is undecided"},
		"rule":     {trusted, messages[2], "3 refuted rule_cost_limit /cost/total\n", "the queue is refuted"},
		"all":      {trusted, strings.Join(messages, "\n"), notes + "2 undecided unsigned /signatures\n", "the queue is refuted"},
		"last":     {trusted, strings.Join(messages, "\n"), "4 refuted hash_mismatch /chain/receipt_hash\n", "the queue is refuted"},
	} {
		var out strings.Builder
		err := audit(t.Context(), c.keys, strings.NewReader(c.queue), &out)
		if !strings.Contains(out.String(), c.prints) || err == nil != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v\n%s", name, err, &out)
		}
	}
}
