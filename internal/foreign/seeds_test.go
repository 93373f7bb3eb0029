package foreign_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// A seed is an authentic receipt that the tests create in one format, together with the keys that
// verify it.
type seed struct {
	text   string
	trust  receipt.Trust
	policy receipt.Policy
}

// testKey is the private key that signs all seeds.
func testKey() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)) }

func testSet(t testing.TB, id string, issuers ...string) *keys.Set {
	t.Helper()
	k, err := keys.FromPublic(testKey().Public(), id, "")
	if err != nil {
		t.Fatal(err)
	}
	k.Issuers = issuers
	set, err := keys.NewSet(k)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func sign(message []byte) []byte { return ed25519.Sign(testKey(), message) }

func jcs(t testing.TB, text string) []byte {
	t.Helper()
	b, err := canon.Reference([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return b
}

// seeds returns one receipt for each format that has signatures, and the export of a chain that has
// only hashes.
func seeds(t testing.TB) map[string]seed {
	acta := testSet(t, "sb:issuer:7")
	public := hex.EncodeToString(testKey().Public().(ed25519.PublicKey))
	const payload = `{"type":"protectmcp:decision","issued_at":"2026-01-02T03:04:05Z","issuer_id":"sb:issuer:7","tool_name":"é€","decision":"deny","hook_latency_ms":1.5,"session_id":"s"}`
	const flat = `"type":"blindllm:x","issued_at":"2026-01-02T03:04:05Z","alg":"EdDSA","kid":"sb:issuer:7","value":[1,{"a":null}]`

	const record = `{"version":1,"action_id":"a1","action_type":"read","timestamp":"2026-01-02T03:04:05Z","principal":"p","target":"https://x/?a=1\u0026b=\u003c2\u003e","verdict":"allow","transport":"https","chain_prev_hash":"genesis","chain_seq":0}`
	digest := sha256.Sum256([]byte(record))

	const evidence = `"record_type":"evidence_receipt_v2","receipt_version":2,"payload_kind":"proxy_decision","event_id":"e1","timestamp":"2026-01-02T03:04:05Z","chain_seq":1,"chain_prev_hash":"x","payload":{"verdict":"allow","n":3}`
	blank := jcs(t, `{`+evidence+`,"signature":{"signer_key_id":"","key_purpose":"","algorithm":"","signature":""}}`)

	const credential = `"@context":["https://www.w3.org/ns/credentials/v2"],"type":["VerifiableCredential","AgentReceipt"],"id":"urn:receipt:1","version":"0.5.0","issuer":{"id":"did:a"},"issuanceDate":"2026-01-02T03:04:05Z",` +
		`"credentialSubject":{"principal":{"id":"did:u"},"action":{"id":"act","type":"t","risk_level":"low","timestamp":"2026-01-02T03:04:05Z"},"outcome":{"status":"success"},"chain":{"sequence":1,"previous_receipt_hash":null,"chain_id":"c"}}`

	return map[string]seed{
		"acta-envelope": {`{"payload":` + payload + `,"signature":{"alg":"EdDSA","kid":"sb:issuer:7","sig":"` + hex.EncodeToString(sign(jcs(t, payload))) + `"}}`, acta, receipt.Policy{}},
		"acta-flat":     {`{` + flat + `,"signature":"` + hex.EncodeToString(sign(jcs(t, `{`+flat+`}`))) + `"}`, acta, receipt.Policy{}},
		"pipelock-v1": {`{"version":1,"action_record":` + record + `,"signature":"ed25519:` + hex.EncodeToString(sign(digest[:])) + `","signer_key":"` + public + `","ext":{"note":1}}`,
			testSet(t, "pipelock"), receipt.Policy{}},
		"pipelock-v2": {`{` + evidence + `,"signature":{"signer_key_id":"k","key_purpose":"receipt-signing","algorithm":"ed25519","signature":"ed25519:` + hex.EncodeToString(sign(blank)) + `"}}`,
			testSet(t, "k"), receipt.Policy{}},
		"obsigna": {`{` + credential + `,"proof":{"type":"Ed25519Signature2020","created":"2026-01-02T03:04:05Z","verificationMethod":"did:a#1","proofPurpose":"assertionMethod","proofValue":"u` +
			base64.RawURLEncoding.EncodeToString(sign(jcs(t, `{`+credential+`}`))) + `"}}`, testSet(t, "did:a#1", "did:a"), receipt.Policy{}},
		"a2a-card":           {card(t), testSet(t, "card"), receipt.Policy{}},
		"gilda-audit-record": {auditRecord(t), testSet(t, "observer"), receipt.Policy{}},
		"in-toto-svr": {enveloped([]byte(`{"_type":"https://in-toto.io/Statement/v1","predicateType":"https://in-toto.io/attestation/svr/v0.2","subject":[{"name":"n","digest":{"sha256":"00"}}],"predicate":{"verifier":{"id":"did:v","policies":[]},"timeCreated":"2026-01-02T03:04:05Z","properties":["A"]}}`)),
			testSet(t, "observer", "did:v"), receipt.Policy{}},
		"slsa-vsa": {enveloped([]byte(`{"_type":"https://in-toto.io/Statement/v1","predicateType":"https://slsa.dev/verification_summary/v1","subject":[{"name":"n","digest":{"sha256":"00"}}],"predicate":{"verifier":{"id":"did:v"},"timeVerified":"2026-01-02T03:04:05Z","resourceUri":"u","policy":{"uri":"p"},"verificationResult":"PASSED","verifiedLevels":["A"]}}`)),
			testSet(t, "observer", "did:v"), receipt.Policy{}},
		"harn-provenance": {provenance(t), testSet(t, "harn"), receipt.Policy{}},
		"opentrustgraph":  {trustGraph(t), nil, receipt.Policy{IntegrityOnly: true}},
	}
}

// card returns an agent card with one signature.
func card(t testing.TB) string {
	const members = `"name":"n","description":"d","url":"https://x","version":"1","skills":[{"id":"s","tags":["a"]}],"capabilities":{"streaming":false}`
	protected := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"EdDSA","kid":"card","typ":"JOSE"}`))
	sig := sign([]byte(protected + "." + base64.RawURLEncoding.EncodeToString(jcs(t, `{`+members+`}`))))
	return `{` + members + `,"signatures":[{"protected":"` + protected + `","signature":"` + base64.RawURLEncoding.EncodeToString(sig) + `"}]}`
}

// auditRecord returns an agent audit record of a voluntary observer.
func auditRecord(t testing.TB) string {
	digest := func(text string) string { return strings.TrimPrefix(canon.Sum(jcs(t, text)).String(), "sha256:") }
	request, before, after := digest(`{"action":"write","resourceId":"r","resourceKind":"path"}`), digest("1"), digest("2")
	fields := map[string]string{}
	for _, name := range []string{"agent", "delegation", "resource", "decision", "posture", "remediation", "correlation"} {
		fields[name] = "producer-asserted"
	}
	text := jcs(t, compact(t, map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "predicateType": "https://probityai.github.io/agent-evidence-vectors/predicate/v1/agent-audit-record",
		"subject": []any{map[string]any{"name": "c", "digest": map[string]any{"sha256": request}}, map[string]any{"name": "c/after", "digest": map[string]any{"sha256": after}}},
		"predicate": map[string]any{
			"recordId": "rec", "tier": "voluntary", "hashAlgorithm": "sha256", "issuedAt": "2026-01-02T03:04:05Z", "agreement": "agree",
			"agent":       map[string]any{"id": "a", "credentialDigest": before, "authentication": "none", "signers": []string{}},
			"delegation":  map[string]any{"subject": "u", "subjectKind": "user", "authorityDigest": before},
			"resource":    map[string]any{"kind": "path", "id": "r", "binding": "not-bindable"},
			"decision":    map[string]any{"action": "write", "requestDigest": request, "reported": "permit", "decisionPointId": "p", "policyDigest": before, "reportedAt": "2026-01-02T03:04:05Z"},
			"effect":      map[string]any{"observed": "occurred", "pathScope": []string{"/x"}, "interval": map[string]any{"beforeRoot": before, "afterRoot": after, "baseResolution": "supplied", "openedAt": "2026-01-02T03:04:05Z", "sealedAt": "2026-01-02T03:04:05Z"}, "writes": []any{map[string]any{"path": "/x/y", "preStateDigest": before, "postStateDigest": after, "requestDigest": request, "inScope": true}}},
			"correlation": map[string]any{"id": "c", "scope": "producer", "timeBasis": "asserted"},
			"posture":     map[string]any{"reported": "no_network", "reportedDigest": before, "observed": "no_network", "observedDigest": before, "assessedAt": "2026-01-02T03:04:05Z", "agreement": "agree"},
			"remediation": []any{}, "observation": map[string]any{"vantage": "peer", "coverage": map[string]any{"scopeComplete": true, "gaps": []any{}}},
			"fieldEvidence": fields, "doesNotAssert": []any{}, "evaluation": map[string]any{"status": "evaluated"},
		}}))
	return enveloped(text)
}

// enveloped returns a DSSE envelope that contains the statement.
func enveloped(text []byte) string {
	const payloadType = "application/vnd.in-toto+json"
	sig := sign([]byte(fmt.Sprintf("DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(text), text)))
	return `{"payload":"` + base64.StdEncoding.EncodeToString(text) + `","payloadType":"` + payloadType + `","signatures":[{"keyid":"observer","sig":"` + base64.StdEncoding.EncodeToString(sig) + `"}]}`
}

// These types represent a provenance receipt in the order of the upstream declaration, so that
// encoding/json writes the hashed text without code from this module.
type (
	provenanceEvent struct {
		Topic        string            `json:"topic"`
		EventID      int               `json:"event_id"`
		Kind         string            `json:"kind"`
		Payload      map[string]any    `json:"payload"`
		Headers      map[string]string `json:"headers"`
		OccurredAtMS int               `json:"occurred_at_ms"`
		PrevHash     *string           `json:"prev_hash"`
		RecordHash   string            `json:"record_hash"`
	}
	provenanceReceipt struct {
		Schema    string `json:"schema"`
		ReceiptID string `json:"receipt_id"`
		IssuedAt  string `json:"issued_at"`
		Producer  struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"producer"`
		Run struct {
			Pipeline     string `json:"pipeline"`
			Status       string `json:"status"`
			StartedAtMS  int    `json:"started_at_ms"`
			FinishedAtMS int    `json:"finished_at_ms"`
			ExitCode     int    `json:"exit_code"`
		} `json:"run"`
		EventLog struct {
			Backend string            `json:"backend"`
			Topics  []string          `json:"topics"`
			Events  []provenanceEvent `json:"events"`
		} `json:"event_log"`
		Chain struct {
			Algorithm     string `json:"algorithm"`
			EventRootHash string `json:"event_root_hash"`
			ReceiptHash   string `json:"receipt_hash"`
		} `json:"chain"`
		Signatures []map[string]string `json:"signatures"`
	}
)

func compact(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// provenance returns a provenance receipt with three events on two topics. No public example
// exists.
func provenance(t testing.TB) string {
	r := provenanceReceipt{Schema: "harn-provenance-receipt-v1", ReceiptID: "receipt-1", IssuedAt: "2026-01-02T03:04:05Z", Signatures: []map[string]string{}}
	r.Producer.Name, r.Run.Pipeline, r.Run.Status = "harn", "é", "success"
	r.EventLog.Backend, r.EventLog.Topics = "sqlite", []string{"a", "b"}
	r.Chain.Algorithm = "sha256/ed25519"

	var hashes []string
	for _, e := range []provenanceEvent{
		{Topic: "a", EventID: 1, Kind: "run.started", Payload: map[string]any{"z": json.Number("1.0"), "a": []any{true, nil, "<é>"}}},
		{Topic: "a", EventID: 4, Kind: "run.finished", Payload: map[string]any{"n": 12}},
		{Topic: "b", EventID: 2, Kind: "other", Payload: map[string]any{}},
	} {
		e.Headers = map[string]string{"harn.provenance.schema": "harn-eventlog-provenance-v1"}
		if last := len(r.EventLog.Events) - 1; last >= 0 && r.EventLog.Events[last].Topic == e.Topic {
			e.PrevHash = &hashes[last]
			e.Headers["harn.provenance.prev_hash"] = hashes[last]
		}
		e.RecordHash = canon.Sum([]byte(compact(t, map[string]any{"event_id": e.EventID, "headers": e.Headers, "kind": e.Kind, "occurred_at_ms": e.OccurredAtMS, "payload": e.Payload, "topic": e.Topic}))).String()
		e.Headers["harn.provenance.record_hash"] = e.RecordHash
		hashes = append(hashes, e.RecordHash)
		r.EventLog.Events = append(r.EventLog.Events, e)
	}
	pair := func(a, b string) string { return canon.Sum([]byte(a + b)).String() }
	r.Chain.EventRootHash = pair(pair(hashes[0], hashes[1]), pair(hashes[2], hashes[2]))

	text := compact(t, r)
	r.Chain.ReceiptHash = canon.Sum([]byte(text)).String()
	public := testKey().Public().(ed25519.PublicKey)
	sum := sha256.Sum256(public)
	r.Signatures = []map[string]string{{"algorithm": "ed25519", "key_id": "ed25519:" + hex.EncodeToString(sum[:16]), "public_key_base64": base64.StdEncoding.EncodeToString(public),
		"signature_base64": base64.StdEncoding.EncodeToString(sign([]byte("harn provenance receipt v1\n" + text))), "signed_at": "2026-01-02T03:04:06Z"}}
	return compact(t, r)
}

// trustGraph returns an export with two records, the second of which is the child of the first.
func trustGraph(t testing.TB) string {
	var records []map[string]any
	previous := any(nil)
	for i, metadata := range []map[string]any{
		{"effects_grant": []any{map[string]any{"kind": map[string]any{"kind": "fs"}, "scope": "read"}}, "actor_chain": map[string]any{"sub": "u", "scopes": []string{}}},
		{"parent_record_id": "r0", "effects_used": []any{map[string]any{"kind": map[string]any{"kind": "fs"}, "scope": "read", "resource": "/x"}}, "actor_chain": map[string]any{"sub": "u", "act": map[string]any{"sub": "child", "act": nil}}},
	} {
		r := map[string]any{"schema": "opentrustgraph/v0.1", "record_id": "r" + string(rune('0'+i)), "agent": "a", "action": "x", "approver": nil, "outcome": "success", "trace_id": "t",
			"autonomy_tier": "act_auto", "timestamp": "2026-01-02T03:04:05Z", "cost_usd": json.Number("1.0"), "chain_index": i + 1, "previous_hash": previous, "metadata": metadata}
		hash := canon.Sum([]byte(compact(t, r))).String()
		r["entry_hash"], previous = hash, hash
		records = append(records, r)
	}
	return compact(t, map[string]any{"schema": "opentrustgraph-chain/v0", "chain": map[string]any{"topic": "t", "total": 2, "root_hash": previous, "verified": true}, "records": records})
}

// TestSeeds verifies that every seed is verified.
func TestSeeds(t *testing.T) {
	for name, s := range seeds(t) {
		if got := outcome(judge(t, s.trust, s.policy, []byte(s.text))); got != "verified" {
			t.Errorf("%s: %s\n%s", name, got, s.text)
		}
	}
}
