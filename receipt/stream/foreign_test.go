package stream_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestForeignReceipts verifies that third-party receipts are undecided instead of refuted, in every
// form of input. Malformed text must still be refuted.
func TestForeignReceipts(t *testing.T) {
	const other = `{"@version":"EP-RECEIPT-v1","payload":{"type":"t"}}`
	line := base64.RawURLEncoding.EncodeToString([]byte(`{"v":1,"type":"open","recorder":"r1"}`)) + ".c2ln"
	statement := `{"_type":"https://in-toto.io/Statement/v1","filler":"` + strings.Repeat("x", 40<<10) + `","predicateType":"https://in-toto.io/attestation/ai-agent-action/v0.1"}`
	deep := `{"@version":"EP-RECEIPT-v1","payload":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`
	w := newWriter(t, "did:web:a")

	for name, test := range map[string]struct {
		input, want string
	}{
		"one":              {other, "undecided foreign_receipt"},
		"lines":            {other + "\n" + other + "\n", "undecided foreign_receipt, undecided foreign_receipt"},
		"an array":         {"[" + other + "," + other + "]", "undecided foreign_receipt, undecided foreign_receipt"},
		"with ours":        {other + "\n" + string(w.next()) + "\n" + other + "\n", "undecided foreign_receipt, verified, undecided foreign_receipt"},
		"lines of AEL":     {line + "\n" + line + "\n", "refuted schema_invalid, refuted schema_invalid"},
		"COSE":             {"\xd2\x84\x43\xa1\x01\x26\xa0\x40\x40", "undecided signatures_not_checked"},
		"a long envelope":  {`{"payloadType":"application/vnd.in-toto+json","payload":"` + base64.StdEncoding.EncodeToString([]byte(statement)) + `","signatures":[]}`, "undecided foreign_receipt"},
		"deeply nested":    {deep, "undecided foreign_receipt"},
		"two equal names":  {`{"@version":"EP-RECEIPT-v1","payload":{},"payload":{}}`, "refuted duplicate_name"},
		"text after it":    {other + " x", "refuted trailing_data"},
		"not one of these": {`{"payload":{"type":"t"},"signature":{"alg":"EdDSA","kid":"k"}}`, "refuted not_a_receipt"},
	} {
		var found []string
		run := stream.Verify(t.Context(), integrity(t), strings.NewReader(test.input), stream.Options{})
		for rep := range run.Reports() {
			found = append(found, strings.TrimSpace(rep.Verdict.String()+" "+string(rep.Finding().Code)))
			if rep.Verdict == receipt.Undecided && rep.InputSHA256.IsZero() {
				t.Errorf("%s: the report does not contain the digest of the input", name)
			}
		}
		if got := strings.Join(found, ", "); got != test.want {
			t.Errorf("%s: %s; want %s", name, got, test.want)
		}
	}
}

// TestForeignChains verifies that links between third-party records are checked within one source,
// and that a selection breaks no link.
func TestForeignChains(t *testing.T) {
	previous, texts := "null", []string(nil)
	for i := 1; i <= 3; i++ {
		head := fmt.Sprintf(`{"action":"x","agent":"a","approver":null,"autonomy_tier":"act_auto","chain_index":%d,"cost_usd":null`, i)
		tail := fmt.Sprintf(`,"metadata":{},"outcome":"success","previous_hash":%s,"record_id":"r%d","schema":"opentrustgraph/v0.1","timestamp":"2026-01-02T03:04:05Z","trace_id":"t"}`, previous, i)
		previous = `"` + canon.Sum([]byte(head+tail)).String() + `"`
		texts = append(texts, head+`,"entry_hash":`+previous+tail)
	}
	altered := strings.Replace(texts[2], `"previous_hash":"sha256:`, `"previous_hash":"sha256:00`, 1)
	other := strings.Replace(texts[1], `"agent":"a"`, `"agent":"b"`, 1)
	for name, test := range map[string]struct {
		input   []string
		partial bool
		want    string
	}{
		"a chain":     {texts, false, "verified not_checked, verified passed, verified passed"},
		"a selection": {[]string{texts[0], texts[2]}, false, "verified not_checked, verified not_checked"},
		"altered":     {[]string{texts[0], texts[1], altered}, false, "verified not_checked, verified passed, refuted not_applicable"},
		"after that":  {[]string{texts[0], other, texts[2]}, true, "verified not_checked, refuted not_applicable, verified not_checked"},
	} {
		var found []string
		run := stream.Verify(t.Context(), integrity(t), strings.NewReader(strings.Join(test.input, "\n")), stream.Options{Partial: test.partial})
		for rep := range run.Reports() {
			found = append(found, rep.Verdict.String()+" "+rep.Check(receipt.StepLink).Status.String())
		}
		if got := strings.Join(found, ", "); got != test.want {
			t.Errorf("%s: %s; want %s", name, got, test.want)
		}
	}
}
