package stream_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestForeignReceipts verifies that receipts of other makers are left undecided, and not refuted
// because they are not ours, in every form of an input. A malformed text stays refuted.
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
		"lines of AEL":     {line + "\n" + line + "\n", "undecided foreign_receipt, undecided foreign_receipt"},
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
				t.Errorf("%s: the report has no digest of its input", name)
			}
		}
		if got := strings.Join(found, ", "); got != test.want {
			t.Errorf("%s: %s; want %s", name, got, test.want)
		}
	}
}
