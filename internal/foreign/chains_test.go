package foreign_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign"
	"github.com/receiptkit/receiptkit/receipt"
)

// evidence returns a Pipelock receipt (version 2) that follows a previous receipt.
func evidence(t testing.TB, seq int, previous, key string) string {
	members := fmt.Sprintf(`"record_type":"evidence_receipt_v2","receipt_version":2,"payload_kind":"proxy_decision","event_id":"e%d","timestamp":"2026-01-02T03:04:05Z","chain_seq":%d,"chain_prev_hash":"%s","payload":{}`, seq, seq, previous)
	blank := jcs(t, `{`+members+`,"signature":{"signer_key_id":"","key_purpose":"","algorithm":"","signature":""}}`)
	return `{` + members + `,"signature":{"signer_key_id":"` + key + `","key_purpose":"receipt-signing","algorithm":"ed25519","signature":"ed25519:` + hex.EncodeToString(sign(blank)) + `"}}`
}

func hashOf(t testing.TB, text string) string {
	return strings.TrimPrefix(canon.Sum(jcs(t, text)).String(), "sha256:")
}

// TestChains verifies that links within one source are checked, and that an authentic receipt is
// not refuted merely because its source is a selection, contains other chains, or contains a forged
// receipt.
func TestChains(t *testing.T) {
	set := testSet(t, "k")
	a0 := evidence(t, 0, "genesis", "k")
	a1 := evidence(t, 1, hashOf(t, a0), "k")
	a2 := evidence(t, 2, hashOf(t, a1), "k")
	b1 := evidence(t, 1, strings.Repeat("ab", 32), "k")
	b2 := evidence(t, 2, hashOf(t, b1), "k")
	forged := strings.Replace(evidence(t, 1, hashOf(t, a0), "other"), `"e1"`, `"e9"`, 1)
	for name, test := range map[string]struct {
		texts []string
		want  string
	}{
		"a chain":          {[]string{a0, a1, a2}, "verified-, verified+, verified+"},
		"a selection":      {[]string{a0, a2}, "verified-, verified-"},
		"its end":          {[]string{a1, a2}, "verified-, verified+"},
		"two chains":       {[]string{b1, a0, b2, a1, a2}, "verified-, verified-, verified+, verified+, verified+"},
		"a broken link":    {[]string{a0, b1, a1}, "verified-, refuted chain_break, verified+"},
		"in another order": {[]string{a2, a0, a1}, "verified-, verified-, verified+"},
		"a wrong number":   {[]string{a0, evidence(t, 2, hashOf(t, a0), "k")}, "verified-, refuted chain_break"},
		"a fork":           {[]string{a0, a1, evidence(t, 1, hashOf(t, a0), "k2"), a2}, "verified-, verified+, undecided unknown_key, verified+"},
		"a copy":           {[]string{a0, a0, a1}, "verified-, verified-, verified+"},
		"after a forgery":  {[]string{a0, forged, a2}, "verified-, undecided unknown_key, verified-"},
		"after an altered": {[]string{a0, strings.Replace(a1, "e1", "e9", 1), a2}, "verified-, refuted signature_invalid, verified-"},
		"an altered place": {[]string{a0, strings.Replace(a1, `"chain_seq":1`, `"chain_seq":2`, 1)}, "verified-, refuted signature_invalid"},
	} {
		var chains foreign.Chains
		var found []string
		for _, text := range test.texts {
			rep := judge(t, set, receipt.Policy{}, []byte(text))
			got := follow(t, &chains, set, []byte(text), rep)
			if got == "verified" {
				got += map[bool]string{true: "+", false: "-"}[rep.Check(receipt.StepLink).Status == receipt.StatusPassed]
			}
			found = append(found, got)
		}
		if got := strings.Join(found, ", "); got != test.want {
			t.Errorf("%s: %s; want %s", name, got, test.want)
		}
	}
}

// credential returns an obsigna receipt with the given members of its place in the chain.
func credential(t testing.TB, place string) string {
	unsigned := `"@context":["https://www.w3.org/ns/credentials/v2"],"type":["VerifiableCredential","AgentReceipt"],"id":"urn:receipt:1","version":"0.5.0","issuer":{"id":"did:a"},"issuanceDate":"2026-01-02T03:04:05Z",` +
		`"credentialSubject":{"principal":{"id":"did:u"},"action":{"id":"act","type":"t","risk_level":"low","timestamp":"2026-01-02T03:04:05Z"},"outcome":{"status":"success"},"chain":{"chain_id":"c",` + place + `}}`
	return `{` + unsigned + `,"proof":{"type":"Ed25519Signature2020","created":"2026-01-02T03:04:05Z","verificationMethod":"did:a#1","proofPurpose":"assertionMethod","proofValue":"u` +
		base64.RawURLEncoding.EncodeToString(sign(jcs(t, `{`+unsigned+`}`))) + `"}}`
}

// TestTerminal verifies that no receipt follows the terminal one of its chain, and that terminal is
// not null.
func TestTerminal(t *testing.T) {
	set := testSet(t, "did:a#1", "did:a")
	for terminal, want := range map[string]string{
		`true`:  "verified, refuted chain_break",
		`false`: "verified, verified",
		`null`:  "refuted schema_invalid, verified",
	} {
		first := credential(t, `"sequence":1,"previous_receipt_hash":null,"terminal":`+terminal)
		unsigned, _, _ := strings.Cut(first, `,"proof":`)
		second := credential(t, `"sequence":2,"previous_receipt_hash":"sha256:`+hashOf(t, unsigned+`}`)+`"`)
		var chains foreign.Chains
		var found []string
		for _, text := range []string{first, second} {
			found = append(found, follow(t, &chains, set, []byte(text), judge(t, set, receipt.Policy{}, []byte(text))))
		}
		if got := strings.Join(found, ", "); got != want {
			t.Errorf("terminal %s: %s; want %s", terminal, got, want)
		}
	}
}
