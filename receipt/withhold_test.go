package receipt_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestSecretNames verifies that reports contain neither a member name that looks like a secret nor
// any part of that name, and that other names are kept.
func TestSecretNames(t *testing.T) {
	valid, err := fixtures.Read("valid/task.json")
	if err != nil {
		t.Fatal(err)
	}
	in := func(member string) string { return "{" + member + "," + string(valid[1:]) }
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}

	token := "ghp_Ab3dE6gH9jK2mN5pQ8sT1vW4" + "yZ7bC0eF3hJ6"
	for name, secret := range map[string]bool{
		token: true, "a/" + token: true, "sk-ant-api03-" + strings.Repeat("aB3-xY9_", 11) + "aB3xYAA": true,
		strings.Repeat("x", 250) + " " + token: true, token + strings.Repeat("/", 200): true, token + strings.Repeat("/", 199) + "_": true,
		"harmless": false, "Rather_Long_But_Harmless_Name_2026": false,
	} {
		for form, text := range map[string]string{
			"unknown":   in(fmt.Sprintf("%q:1", name)),
			"duplicate": fmt.Sprintf("{%q:1,%[1]q:2}", name),
			"inside":    fmt.Sprintf("{%q:{\"a\":1,\"a\":2}}", name),
			"value":     fmt.Sprintf("{%q:[1,tru]}", name),
			"number":    in(fmt.Sprintf("%q:9007199254740993", name)),
			"truncated": fmt.Sprintf("{%q:{%q:1,%[2]q:2}}", strings.Repeat("y", 240), name),
			"omitted":   fmt.Sprintf("{%q:{%q:1,%[2]q:2}}", strings.Repeat("y", 300), name),
		} {
			var rep receipt.Report
			v.VerifyBytes([]byte(text), new(canon.Document), &rep)
			report, err := json.Marshal(&rep)
			if err != nil || rep.Verdict != receipt.Refuted {
				t.Fatal(rep.Verdict, err)
			}
			syntax := rep.Finding().Syntax
			got := string(report) + syntax.Error() + fmt.Sprint((&receipt.RefutedError{Report: &rep}).Error())
			if shown := strings.Contains(got, name[:min(len(name), 40)]) || strings.Contains(got, "ghp_") || strings.Contains(got, "api03-aB3"); shown == secret {
				t.Errorf("%s, %.60q: %s", form, name, got)
			}
		}
	}
}
