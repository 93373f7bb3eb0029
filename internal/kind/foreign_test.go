package kind_test

import (
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/internal/kind"
)

// TestForeignReceipts verifies that every third-party format is recognized by its members alone,
// and that it is classified as a format that the verifier can evaluate.
func TestForeignReceipts(t *testing.T) {
	statement := func(predicate string) string {
		text := `{"_type":"https://in-toto.io/Statement/v1","predicateType":"` + predicate + `","subject":[]}`
		return `{"payloadType":"application/vnd.in-toto+json","payload":"` + base64.StdEncoding.EncodeToString([]byte(text)) + `","signatures":[]}`
	}
	line := base64.RawURLEncoding.EncodeToString([]byte(`{"v":1,"type":"open","recorder":"r1"}`)) + ".c2ln"

	for head, want := range map[string]kind.Kind{
		"\xd2\x84\x40":     "cose-sign1",
		line:               "ael-line",
		line + "\n" + line: "ael-line",
		`{"name":"n","skills":[],"signatures":[{"protected":"e30","signature":"c2ln"}]}`: "a2a-card",

		statement("https://probityai.github.io/agent-evidence-vectors/predicate/v1/agent-audit-record"): "gilda-audit-record",
		statement("https://in-toto.io/attestation/ai-agent-action/v0.1"):                                "ai-agent-action",
		statement("https://slsa.dev/verification_summary/v1"):                                           "slsa-vsa",
		statement("https://in-toto.io/attestation/svr/v0.2"):                                            "in-toto-svr",
		statement("https://pipelock.example/fleet-receipt/v1"):                                          "pipelock-fleet",
		statement("https://example.com/other"):                                                          "statement",
		`{"type":"tool_call","timestamp":"t","previousHash":"genesis"}`:                                 "ai-agent-action",

		`{"schema":"harn.receipt.v1"}`:                                                    "harn-receipt",
		`{"schema":"harn-provenance-receipt-v1"}`:                                         "harn-provenance",
		`{"chain":{"receipt_hash":"x"},"schema":"harn-provenance-receipt-v1"}`:            "harn-provenance",
		`{"_type":"harn.skill_gate.report.v1"}`:                                           "harn-skill-gate",
		`{"schema":"harn.evaluation.receipt.v1"}`:                                         "harn-evaluation",
		`{"schema":"opentrustgraph/v0.1"}`:                                                "opentrustgraph",
		`{"schema":"opentrustgraph-chain/v0","chain":{}}`:                                 "opentrustgraph",
		`{"payload":{"type":"t"},"signature":{"alg":"a","kid":"k","sig":"s"}}`:            "acta-envelope",
		`{"type":"t","alg":"EdDSA","kid":"k","signature":"00"}`:                           "acta-flat",
		`{"type":"t","alg":"EdDSA","kid":"asqav-1","signature":"00"}`:                     "asqav",
		`{"action_record":{},"signer_key":"00"}`:                                          "pipelock-v1",
		`{"type":"action_receipt","detail":{"action_record":{}}}`:                         "pipelock-v1",
		`{"record_type":"evidence_receipt_v2"}`:                                           "pipelock-v2",
		`{"type":["VerifiableCredential","AgentReceipt"]}`:                                "obsigna",
		`{"type":["VerifiableCredential","AIActionReceipt"]}`:                             "obsigna",
		`{"evidence_type":"application/vnd.agentrust.action-receipt+json"}`:               "trace-action-receipt",
		`{"@version":"EP-RECEIPT-v1"}`:                                                    "emilia-receipt",
		`{"@version":"EP-PROVENANCE-CHAIN-v1"}`:                                           "emilia-other",
		`{"receipt_id":"r","action_hash":"h","contexts":[],"signoffs":[],"log_proof":{}}`: "emilia-trust-receipt",
		`{"ael_format":1,"recorders":[]}`:                                                 "ael-artifact",

		// A document with one member fewer, or with a member of this toolkit's receipts, has
		// another kind.
		`{"payload":{"type":"t"},"signature":{"alg":"a","kid":"k"}}`:                          kind.Unknown,
		`{"payload":{"type":"t"},"signature":{"alg":"a","kid":"k","sig":"s"},"more":1}`:       kind.Unknown,
		`{"schema":"receipt-2026-04-25","type":["AgentReceipt"],"receipt_id":"r","chain":{}}`: kind.Unknown,
		`{"schema":"receipt-2026-04-25","record_type":"evidence_receipt_v2","signatures":[]}`: kind.Unknown,
		line + ".c2ln": "token",
	} {
		got := kind.Of([]byte(head), true)
		if got.Kind != want || got.Kind.ForeignReceipt() && (got.Kind.Foreign() || got.What == "" || got.Next == "") {
			t.Errorf("%.80q: %+v; want %q", head, got, want)
		}
		if want == "statement" && got.Kind.ForeignReceipt() {
			t.Errorf("%.80q: %+v is recognized as a receipt", head, got)
		}
	}
}

// TestForeignVectors verifies that every published third-party receipt is recognized. Some
// files wrap receipts with their inputs.
func TestForeignVectors(t *testing.T) {
	dir := vectors.Dir(t, "foreign")
	formats := map[string]int{}
	count := func(text []byte) kind.Kind {
		f := kind.Of(text, true).Kind
		if f.ForeignReceipt() {
			formats[string(f)]++
		}
		return f
	}

	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || count(text).ForeignReceipt() {
			return err
		}
		for _, inside := range objectsIn(text) {
			count(inside)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	for _, want := range strings.Fields("cose-sign1:8 ael-artifact:37 ael-line:37 gilda-audit-record:44 ai-agent-action:4 opentrustgraph:1 " +
		"acta-envelope:14 pipelock-v1:15 pipelock-v2:1 obsigna:3 trace-action-receipt:20 emilia-receipt:10") {
		name, least, _ := strings.Cut(want, ":")
		var n int
		if err := json.Unmarshal([]byte(least), &n); err != nil || formats[name] < n {
			t.Errorf("%s: %d files, want at least %s", name, formats[name], least)
		}
	}
}

// objectsIn returns all objects in a JSON text.
func objectsIn(text []byte) (list [][]byte) {
	var members map[string]json.RawMessage
	var elements []json.RawMessage
	_ = json.Unmarshal(text, &members) // other kinds of values have no members
	_ = json.Unmarshal(text, &elements)
	for _, m := range members {
		elements = append(elements, m)
	}
	if members != nil {
		list = append(list, text)
	}
	for _, e := range elements {
		list = append(list, objectsIn(e)...)
	}
	return list
}
