package foreign_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/internal/foreign"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// read reads a file from a public set of test cases.
func read(t testing.TB, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{vectors.Dir(t, "foreign")}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// trusted returns a set of Ed25519 keys, which are passed as hexadecimal strings and indexed by ID.
func trusted(t testing.TB, issuer string, list map[string]string) *keys.Set {
	t.Helper()
	var all []*keys.PublicKey
	for id, digits := range list {
		raw, err := hex.DecodeString(strings.TrimSpace(digits))
		if err != nil {
			t.Fatal(err)
		}
		k, err := keys.FromPublic(ed25519.PublicKey(raw), id, "")
		if err != nil {
			t.Fatal(err)
		}
		if issuer != "" {
			k.Issuers = strings.Fields(issuer)
		}
		all = append(all, k)
	}
	set, err := keys.NewSet(all...)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// judge verifies a document in the same way as a stream, and returns the report.
func judge(t testing.TB, trust receipt.Trust, policy receipt.Policy, data []byte) *receipt.Report {
	t.Helper()
	v, err := receipt.NewVerifier(trust, policy)
	if err != nil {
		t.Fatal(err)
	}
	return judgeWith(v, data)
}

func judgeWith(v *receipt.Verifier, data []byte) *receipt.Report {
	rep := new(receipt.Report)
	doc, format := new(canon.Document), kind.Of(data, true).Kind
	if doc.Parse(data, canon.Limits{Depth: receipt.MaxDepth}) != nil && format != "cose-sign1" && format != kind.AELLine {
		v.VerifyBytes(data, doc, rep)
		return rep
	}
	f := foreign.Read(format, data, doc)
	if f == nil {
		v.Amend(rep, receipt.Check{Code: receipt.CodeForeignReceipt})
		return rep
	}
	v.Foreign(data, f, rep)
	return rep
}

func outcome(rep *receipt.Report) string {
	return strings.TrimSpace(rep.Verdict.String() + " " + string(rep.Finding().Code))
}

// unwrap returns the value of a member of a JSON text.
func unwrap(t testing.TB, data []byte, path ...string) []byte {
	t.Helper()
	for _, name := range path {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(data, &members); err != nil || members[name] == nil {
			t.Fatalf("no member %q: %v", name, err)
		}
		data = members[name]
	}
	return data
}

// TestActa verifies the outcome that the source states for each receipt, both with and without the
// validity periods of the keys.
func TestActa(t *testing.T) {
	type reading struct{ Verdict, Code string }
	var want map[string]struct{ WithWindows, WithoutWindows reading }
	if err := json.Unmarshal(read(t, "acta-receipt-signature", "expected.json"), &want); err != nil || len(want) < 10 {
		t.Fatalf("%d receipts, %v", len(want), err)
	}
	verdicts := map[string]receipt.Verdict{"valid": receipt.Verified, "invalid": receipt.Refuted, "undecidable": receipt.Undecided}
	for _, file := range []string{"jwks.json", "jwks-no-window.json"} {
		set, err := keys.ParseSet(read(t, "acta-receipt-signature", "keys", file))
		if err != nil {
			t.Fatal(err)
		}
		for name, w := range want {
			expected := w.WithWindows
			if file != "jwks.json" {
				expected = w.WithoutWindows
			}
			rep := judge(t, set, receipt.Policy{}, read(t, "acta-receipt-signature", "receipts", name+".json"))
			if rep.Verdict != verdicts[expected.Verdict] {
				t.Errorf("%s with %s: %s; want %s %s", name, file, outcome(rep), expected.Verdict, expected.Code)
			}
		}
	}
}

// TestActaTrace verifies a chain in the same format. For a single receipt, the link and the policy
// are not checked.
func TestActaTrace(t *testing.T) {
	for _, name := range []string{"01-valid-accepted", "02-valid-denied", "04-broken-chain", "05-stale-policy-digest"} {
		data := read(t, "acta-trace", name+".json")
		kid := strings.Trim(string(unwrap(t, data, "signature", "kid")), `"`)
		for file, want := range map[string]string{"signer-public-key.txt": "verified", "mismatched-signer-public-key.txt": "refuted signature_invalid"} {
			set := trusted(t, "", map[string]string{kid: string(read(t, "acta-trace", file))})
			if got := outcome(judge(t, set, receipt.Policy{}, data)); got != want {
				t.Errorf("%s with %s: %s; want %s", name, file, got, want)
			}
		}
		if got := outcome(judge(t, trusted(t, "", map[string]string{"other": string(read(t, "acta-trace", "signer-public-key.txt"))}), receipt.Policy{}, data)); got != "undecided unknown_key" {
			t.Errorf("%s with an unknown key: %s", name, got)
		}
	}
}

// TestObsigna verifies all published receipts and their hashes.
func TestObsigna(t *testing.T) {
	seen := 0
	for _, file := range []string{"v030", "v040", "v050"} {
		data := read(t, "obsigna", file+"_vectors.json")
		var pem string
		if err := json.Unmarshal(unwrap(t, data, "keys", "publicKey"), &pem); err != nil {
			t.Fatal(err)
		}
		k, err := keys.ParsePublicPEM([]byte(pem), "did:agent:test#key-1", "")
		if err != nil {
			t.Fatal(err)
		}
		k.Issuers = []string{"did:agent:test", "did:agent-receipts-daemon:test"}
		set, err := keys.NewSet(k)
		if err != nil {
			t.Fatal(err)
		}

		var cases map[string]json.RawMessage
		if err := json.Unmarshal(data, &cases); err != nil {
			t.Fatal(err)
		}
		for name, text := range cases {
			var c struct {
				Receipt             json.RawMessage
				Receipts            []json.RawMessage
				ExpectedReceiptHash string
				ExpectedValid       bool
			}
			if json.Unmarshal(text, &c) != nil || !c.ExpectedValid {
				continue
			}
			for _, one := range append(c.Receipts, c.Receipt) {
				if one == nil {
					continue
				}
				seen++
				rep := judge(t, set, receipt.Policy{}, one)
				if outcome(rep) != "verified" || c.ExpectedReceiptHash != "" && rep.ReceiptHash.String() != c.ExpectedReceiptHash {
					t.Errorf("%s: %s, %s; want verified, %s", name, outcome(rep), rep.ReceiptHash, c.ExpectedReceiptHash)
				}
			}
		}
	}
	if seen < 9 {
		t.Errorf("%d receipts, want at least 9", seen)
	}
}

// TestPipelock verifies the outcome for each receipt in the corpus. Wrappers, and relations between
// the receipts in a chain, are not part of a single receipt.
func TestPipelock(t *testing.T) {
	var want map[string]struct {
		Verdict string
		Reason  string `json:"reject_reason"`
		Format  string `json:"input_format"`
		Hash    string `json:"expected_root_hash"`
	}
	if err := json.Unmarshal(read(t, "pipelock", "expected.json"), &want); err != nil || len(want) < 20 {
		t.Fatalf("%d files, %v", len(want), err)
	}
	public := strings.Trim(string(unwrap(t, read(t, "pipelock", "v1", "01-allow-clean-get.json"), "signer_key")), `"`)
	set := trusted(t, "", map[string]string{"pipelock": public})

	outcomes := map[string]string{
		"": "verified", "body_tampered": "refuted signature_invalid", "header_injection": "refuted schema_invalid",
		"signer_key_untrusted":   "undecided unknown_key",
		"expired":                "verified", // the receipt is old but authentic
		"replay_detected":        "verified, refuted duplicate_id",
		"chain_break":            "verified, refuted chain_break",
		"verdict_chain_mismatch": "verified, verified decision_reversed",
	}
	seen := 0
	for name, w := range want {
		if !strings.HasPrefix(name, "v1/") || w.Reason == "padding_attack" || w.Reason == "receipt_count_mismatch" {
			continue
		}
		data := read(t, "pipelock", name)
		lines := [][]byte{data}
		if strings.HasSuffix(name, ".jsonl") {
			lines = bytes.Split(bytes.TrimSpace(data), []byte("\n"))
		}
		var found []string
		var chains foreign.Chains
		for i, line := range lines {
			rep := judge(t, set, receipt.Policy{}, line)
			got := follow(t, &chains, set, line, rep)
			if !slices.Contains(found, got) {
				found = append(found, got)
			}
			if w.Reason != "chain_break" && strings.HasPrefix(got, "verified") && rep.Check(receipt.StepLink).Status != receipt.StatusPassed {
				t.Errorf("%s: line %d: %+v", name, i+1, rep.Check(receipt.StepLink))
			}
			if w.Hash != "" && i == len(lines)-1 && rep.ReceiptHash.String() != "sha256:"+w.Hash {
				t.Errorf("%s: hash %s; want %s", name, rep.ReceiptHash, w.Hash)
			}
			seen++
		}
		if got := strings.Join(found, ", "); got != outcomes[w.Reason] {
			t.Errorf("%s: %s; want %q, the source states %s %s", name, got, outcomes[w.Reason], w.Verdict, w.Reason)
		}
	}
	if seen < 25 {
		t.Errorf("%d receipts, want at least 25", seen)
	}

	evidence := read(t, "pipelock", "v2", "valid_evidence_receipt_proxy_decision.json")
	var key string
	if err := json.Unmarshal(unwrap(t, read(t, "pipelock", "v2", "ed25519_test_keys.json"), "public_key_hex"), &key); err != nil {
		t.Fatal(err)
	}
	if got := outcome(judge(t, trusted(t, "", map[string]string{"receipt-signing-test": key}), receipt.Policy{}, evidence)); got != "verified" {
		t.Errorf("version 2: %s", got)
	}
}

// follow checks a receipt against the preceding ones, and returns the outcome and the last warning.
func follow(t testing.TB, c *foreign.Chains, trust receipt.Trust, data []byte, rep *receipt.Report) string {
	t.Helper()
	v, err := receipt.NewVerifier(trust, receipt.Policy{IntegrityOnly: trust == nil})
	if err != nil {
		t.Fatal(err)
	}
	doc := new(canon.Document)
	if err := doc.Parse(data, canon.Limits{}); err != nil {
		t.Fatal(err)
	}
	c.Follow(v, foreign.Read(kind.Of(data, true).Kind, data, doc), false, rep)
	text := outcome(rep)
	for _, w := range rep.Warnings {
		text += " " + string(w.Code)
	}
	return text
}

// TestTrustGraph verifies that the content of the published export, which is not signed, is intact.
func TestTrustGraph(t *testing.T) {
	export := read(t, "opentrustgraph", "effect-inheritance-chain.json")
	if got := outcome(judge(t, nil, receipt.Policy{IntegrityOnly: true}, export)); got != "verified" {
		t.Errorf("integrity only: %s", got)
	}
	set := trusted(t, "", map[string]string{"k": string(read(t, "acta-trace", "signer-public-key.txt"))})
	if got := outcome(judge(t, set, receipt.Policy{}, export)); got != "undecided unsigned" {
		t.Errorf("with keys: %s", got)
	}
}

// TestAudit verifies the verdict for each statement. Two of the statements can be interpreted in
// more than one way, and are verified.
func TestAudit(t *testing.T) {
	var want map[string]struct{ Verdict string }
	if err := json.Unmarshal(read(t, "agent-audit-record", "expected.json"), &want); err != nil || len(want) < 44 {
		t.Fatalf("%d statements, %v", len(want), err)
	}
	var observer struct {
		Observer struct{ KeyID, PublicKeyHex string }
	}
	if err := json.Unmarshal(read(t, "agent-audit-record", "keys.json"), &observer); err != nil {
		t.Fatal(err)
	}
	set := trusted(t, "", map[string]string{observer.Observer.KeyID: observer.Observer.PublicKeyHex})
	other := trusted(t, "", map[string]string{"other": observer.Observer.PublicKeyHex})
	for name, w := range want {
		data := read(t, "agent-audit-record", "statements", name+".json")
		verdict := map[string]receipt.Verdict{"valid": receipt.Verified, "": receipt.Verified, "malformed": receipt.Refuted}[w.Verdict]
		if rep := judge(t, set, receipt.Policy{}, data); rep.Verdict != verdict {
			t.Errorf("%s: %s, %s; want %q", name, outcome(rep), rep.Finding().Detail, w.Verdict)
		}
		if rep := judge(t, other, receipt.Policy{}, data); rep.Verdict == receipt.Verified {
			t.Errorf("%s is verified without its key", name)
		}
	}
}

// TestCards verifies the signed bytes of the published cards. No published key signs the cards, so
// a test key signs the bytes that the source states.
func TestCards(t *testing.T) {
	example := `{"name":"Example Agent","description":"","capabilities":{"streaming":false,"pushNotifications":false,"extensions":[]},"skills":[]}`
	var stated map[string]struct{ Canonical string }
	if err := json.Unmarshal(read(t, "a2a-card-jcs", "expected.json"), &stated); err != nil {
		t.Fatal(err)
	}
	canonical := stated["spec-8.4.1-example"].Canonical
	protected := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"EdDSA","kid":"card"}`))
	sig := sign([]byte(protected + "." + base64.RawURLEncoding.EncodeToString([]byte(canonical))))
	text := strings.TrimSuffix(example, "}") + `,"signatures":[{"protected":"` + protected + `","signature":"` + base64.RawURLEncoding.EncodeToString(sig) + `"}]}`
	if got := outcome(judge(t, testSet(t, "card"), receipt.Policy{}, []byte(text))); canonical == "" || got != "verified" {
		t.Errorf("%s", got)
	}
	if got := outcome(judge(t, testSet(t, "other"), receipt.Policy{}, []byte(text))); got != "undecided unknown_key" {
		t.Errorf("with an unknown key: %s", got)
	}
}
