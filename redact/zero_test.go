package redact_test

import (
	"crypto/rand"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
)

// TestZeroPolicy verifies that a policy that was not compiled lets nothing pass, and does not panic.
func TestZeroPolicy(t *testing.T) {
	doc, err := canon.Parse([]byte(`{"text": "nothing secret"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*redact.Policy{nil, new(redact.Policy)} {
		if found := p.Find(doc); len(found) != 1 || found[0] != (redact.Finding{Pointer: "", Rule: "policy_empty"}) {
			t.Errorf("Find returns %v, expected the entire document", found)
		}
		if r, err := p.Redact(doc, rand.Reader); err == nil {
			t.Errorf("Redact returns %s", r.Draft.Source())
		}
	}

	p, err := redact.Everyday()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := p.Redact(doc, nil); err == nil {
		t.Errorf("without salts, Redact returns %s", r.Draft.Source())
	}
}
