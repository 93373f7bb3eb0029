package main

import (
	"bytes"
	"crypto/rand"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/redact"
)

// addRedactedFiles adds a receipt with a withheld value, and the disclosures for it.
func addRedactedFiles(t *testing.T, files map[string][]byte) {
	t.Helper()
	policy, err := redact.Rules{Name: "example", Pointers: []string{"/metadata/pin"}}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	draft, err := canon.Parse(bytes.Replace(files["draft.json"], []byte(`"metadata":{`), []byte(`"metadata":{"pin":"7391",`), 1))
	if err != nil {
		t.Fatal(err)
	}
	r, err := policy.Redact(draft, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := receipt.SealDocument(r.Draft, chain.Head{})
	if err != nil {
		t.Fatal(err)
	}
	files["redacted-receipt.json"], files["withheld.json"] = sealed.JSON(), r.Disclosures.Marshal()
}
