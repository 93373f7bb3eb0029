package attest_test

import (
	"bytes"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestFixtures verifies that an attestation has the same verdict as its receipt, and that a refuted
// receipt cannot be attested.
func TestFixtures(t *testing.T) {
	m, err := fixtures.Load()
	if err != nil {
		t.Fatal(err)
	}
	d, attested := newDesk(t, receipt.Policy{}), 0
	for _, c := range m.Cases {
		data := read(t, c.File)
		if len(data) > 64<<10 && !testsize.Full() {
			continue
		}
		if _, err := receipt.ParseSealed(data); err != nil {
			continue
		}
		attested++
		want := outcome(d.judge(t, data))
		for _, key := range []string{"key_2026_04", "key_es256"} {
			if named := publicKeyOf(t, data); named != "" && named != key {
				continue
			}
			got := d.judge(t, bundle(t, c.File, head, key))
			if outcome(got) != want {
				t.Errorf("%s attested by %s: %s, without: %s", c.File, key, outcome(got), want)
			}
			if last := got.Signatures[len(got.Signatures)-1]; got.Verdict == receipt.Verified && (last.Algorithm != "dsse" || last.Role != receipt.RoleIssuer || last.Status != receipt.SignatureValid) {
				t.Errorf("%s: the last signature is %+v", c.File, last)
			}
		}
	}
	if attested < 40 {
		t.Errorf("%d fixtures could be attested", attested)
	}
}

// TestJudge verifies that a document that is not an attestation is refuted if an attestation is
// expected. The failed step must be the one that [receipt.Codes] lists for the code.
func TestJudge(t *testing.T) {
	d, rep := newDesk(t, receipt.Policy{}), new(receipt.Report)
	for text, want := range map[string]string{
		string(read(t, "valid/task.json")):      "refuted parse attestation_invalid",
		`{}`:                                    "refuted parse attestation_invalid",
		`[]`:                                    "refuted parse attestation_invalid",
		"receipt":                               "refuted parse syntax",
		"":                                      "refuted parse empty_input",
		`{"dsseEnvelope":{},"dsseEnvelope":{}}`: "refuted parse duplicate_name",
	} {
		if d.o.Judge(d.v, []byte(text), rep); outcome(rep) != want {
			t.Errorf("%.40s: %s, want %s", text, outcome(rep), want)
		}
		if info, _ := receipt.Lookup(rep.Finding().Code); info.Where != rep.Finding().Step.String() {
			t.Errorf("%s: Codes lists it under %s", outcome(rep), info.Where)
		}
	}
}

// TestInvalidReceiptInside verifies that an attestation is refuted if the receipt inside does not
// match the schema, and that the signature is not checked in that case.
func TestInvalidReceiptInside(t *testing.T) {
	text := bytes.Replace(payload(t, bundle(t, "valid/task.json", "", "key_2026_04")), []byte(`"cost":`), []byte(`"coste":`), 1)
	rep := newDesk(t, receipt.Policy{}).judge(t, signed(t, attest.PayloadType, text, "key_2026_04"))
	if outcome(rep) != "refuted schema schema_invalid" || len(rep.Signatures) != 1 || rep.Signatures[0].Status != receipt.SignatureNotChecked || rep.Signatures[0].KeyID != "key_2026_04" {
		t.Errorf("%s, %+v", outcome(rep), rep.Signatures)
	}
}

func publicKeyOf(t *testing.T, data []byte) string {
	doc, err := canon.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return doc.Root().Member("issuer").Member("public_key_id").String()
}
