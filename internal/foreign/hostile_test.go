package foreign_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// TestHostile verifies the outcome for changes that other verifiers have accepted.
func TestHostile(t *testing.T) {
	all := seeds(t)
	for _, test := range []struct{ seed, from, to, want string }{
		// These cases have other encodings of the same bytes.
		{"acta-envelope", `"sig":"4`, `"sig":"4` + "\\n", "refuted malformed_signature"},
		{"acta-envelope", `"sig":"`, `"sig":"0x`, "refuted malformed_signature"},
		{"acta-envelope", `d5c9c`, `D5C9C`, "refuted malformed_signature"},
		{"pipelock-v1", `"signature":"ed25519:`, `"signature":"`, "refuted malformed_signature"},
		{"pipelock-v2", `"signature":"ed25519:`, `"signature":"ED25519:`, "refuted malformed_signature"},
		{"obsigna", `"proofValue":"u`, `"proofValue":"m`, "refuted malformed_signature"},
		{"obsigna", `"proofValue":"u`, `"proofValue":"`, "refuted malformed_signature"},
		{"harn-provenance", `"signature_base64":"`, `"signature_base64":"\n`, "refuted malformed_signature"},

		// These cases use other algorithms or other keys.
		{"acta-envelope", `"EdDSA"`, `"none"`, "undecided unsupported_algorithm"},
		{"acta-envelope", `"EdDSA"`, `"ES256"`, "refuted algorithm_mismatch"},
		{"acta-envelope", `"kid":"sb:issuer:7"`, `"kid":"sb:issuer:8"`, "refuted issuer_mismatch"},
		{"acta-flat", `"kid":"sb:issuer:7"`, `"kid":"sb:issuer:8"`, "undecided unknown_key"},
		{"pipelock-v2", `"algorithm":"ed25519"`, `"algorithm":"none"`, "refuted malformed_signature"},
		{"pipelock-v2", `"receipt-signing"`, `"rotation"`, "refuted role_mismatch"},
		{"pipelock-v2", `"signer_key_id":"k"`, `"signer_key_id":"K"`, "undecided unknown_key"},
		{"obsigna", `"Ed25519Signature2020"`, `"DataIntegrityProof"`, "refuted malformed_signature"},
		{"obsigna", `"assertionMethod"`, `"authentication"`, "refuted malformed_signature"},
		{"obsigna", `did:a#1`, `did:b#1`, "undecided unknown_key"},
		{"harn-provenance", `"key_id":"ed25519:`, `"key_id":"ed25519:0`, "refuted malformed_signature"},

		// These cases have a signature inside the signed object, members that no signature covers,
		// or repeated members.
		{"acta-envelope", `"session_id":"s"`, `"session_id":"s","signature":null`, "refuted schema_invalid"},
		{"acta-envelope", `"sig":`, `"jku":"https://x","sig":`, "refuted schema_invalid"},
		{"acta-envelope", `"decision":"deny"`, `"decision":"deny","decision":"allow"`, "refuted duplicate_name"},
		{"pipelock-v1", `"verdict":"allow"`, `"verdict":"allow","added":1`, "refuted schema_invalid"},
		{"pipelock-v1", `"ext":{"note":1}`, `"ext":{"note":2}`, "verified"},
		{"pipelock-v1", `{"version":1,"action_record":{"version":1,"action_id":"a1",`, `{"version":1,"action_record":{"action_id":"a1","version":1,`, "verified"},
		{"pipelock-v1", `"verdict":"allow","transport":"https"`, `"transport":"https","verdict":"block"`, "undecided signatures_not_checked"},
		{"pipelock-v1", `"action_record":{"version":1,`, `"action_record":{"version":2,`, "undecided unsupported_schema"},
		{"pipelock-v1", `"action_id":"a1"`, `"action_id":"a\n1"`, "refuted schema_invalid"},
		{"pipelock-v1", `"verdict":"allow"`, `"verdict":"allow","run_nonce":"x"`, "undecided signatures_not_checked"},
		{"pipelock-v2", `"n":3`, `"n":3,"crit":["x"]`, "refuted signature_invalid"},
		{"obsigna", `"created":"2026-01-02T03:04:05Z"`, `"created":"2027-01-02T03:04:05Z"`, "verified"},
		{"obsigna", `"status":"success"`, `"status":"success","error":null`, "refuted schema_invalid"},
		{"harn-provenance", `"name":"harn"`, `"name":"harn","note":1`, "undecided unsupported_schema"},
		{"harn-provenance", `"sha256/ed25519"`, `"sha256/none"`, "refuted schema_invalid"},
		{"harn-provenance", `"z":1.0`, `"z":1`, "refuted hash_mismatch"},
		{"opentrustgraph", `"cost_usd":1.0`, `"cost_usd":1`, "refuted hash_mismatch"},
		{"opentrustgraph", `"verified":true`, `"verified":false`, "verified"},
		{"opentrustgraph", `"total":2`, `"total":3`, "refuted head_mismatch"},

		{"a2a-card", `"streaming":false`, `"streaming":true`, "refuted signature_invalid"},
		{"a2a-card", `"name":"n"`, `"name":5`, "refuted schema_invalid"},
		{"a2a-card", `"skills":`, `"added":[],"skills":`, "verified"},
		{"a2a-card", `"skills":`, `"added":[1],"skills":`, "refuted signature_invalid"},
		{"a2a-card", `"protected":"`, `"header":{"kid":"card"},"protected":"`, "refuted malformed_signature"},
		{"a2a-card", `"protected":"`, `"header":{"note":1},"protected":"`, "verified"},
		{"a2a-card", `"protected":"`, `"protected":"e30`, "refuted malformed_signature"},
		{"gilda-audit-record", `"keyid":"observer"`, `"keyid":"agent"`, "undecided unknown_key"},
		{"gilda-audit-record", `"signatures":[`, `"note":1,"signatures":[`, "refuted schema_invalid"},
		{"gilda-audit-record", `"payload":"`, `"payload":"\n`, "refuted syntax"},

		{"in-toto-svr", `"keyid":"observer"`, `"keyid":"other"`, "undecided unknown_key"},
		{"in-toto-svr", `"sig":"`, `"note":1,"sig":"`, "verified"},
		{"in-toto-svr", `"payloadType":`, `"note":{"a":1},"payloadType":`, "verified"},
		{"in-toto-svr", `"keyid":"observer",`, ``, "verified"},
		{"in-toto-svr", `"keyid":"observer","sig":"`, `"sig":"AA`, "refuted malformed_signature"},

		// These cases spell the same double in two ways.
		{"acta-envelope", `"hook_latency_ms":1.5`, `"hook_latency_ms":15e-1`, "verified"},
		{"acta-envelope", `"hook_latency_ms":1.5`, `"hook_latency_ms":1.50000000000000001`, "verified"},
		{"acta-envelope", `"hook_latency_ms":1.5`, `"hook_latency_ms":9007199254740993`, "refuted signature_invalid"},
	} {
		s := all[test.seed]
		text := strings.Replace(s.text, test.from, test.to, 1)
		if text == s.text {
			t.Errorf("%s has no %s", test.seed, test.from)
			continue
		}
		if got := outcome(judge(t, s.trust, s.policy, []byte(text))); got != test.want {
			t.Errorf("%s with %s: %s; want %s", test.seed, test.to, got, test.want)
		}
	}
}

// TestCardAlgorithms verifies that the header of a card cannot select an algorithm without public
// keys, or an algorithm other than the trusted key's.
func TestCardAlgorithms(t *testing.T) {
	s := seeds(t)["a2a-card"]
	old := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"EdDSA","kid":"card","typ":"JOSE"}`))
	for header, want := range map[string]string{
		`{"alg":"none","kid":"card"}`:                     "refuted malformed_signature",
		`{"alg":"HS256","kid":"card"}`:                    "refuted malformed_signature",
		`{"alg":"ES256K","kid":"card"}`:                   "undecided unsupported_algorithm",
		`{"alg":"ES256","kid":"card"}`:                    "refuted algorithm_mismatch",
		`{"alg":"ML-DSA-65","kid":"card"}`:                "refuted algorithm_mismatch",
		`{"alg":"EdDSA","kid":"card","alg":"none"}`:       "refuted malformed_signature",
		`{"alg":"EdDSA"}`:                                 "refuted malformed_signature",
		`{"alg":"EdDSA","kid":"card","crit":["b64"]}`:     "undecided unsupported_algorithm",
		`{"alg":"EdDSA","kid":"card","typ":"JOSE","x":1}`: "refuted signature_invalid",
	} {
		text := strings.Replace(s.text, old, base64.RawURLEncoding.EncodeToString([]byte(header)), 1)
		if got := outcome(judge(t, s.trust, s.policy, []byte(text))); got != want {
			t.Errorf("%s: %s; want %s", header, got, want)
		}
	}
}

// TestCardKeys verifies cards that are signed with key types other than Ed25519, and that the
// signature covers the card.
func TestCardKeys(t *testing.T) {
	curved, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	modular, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for alg, signer := range map[string]crypto.Signer{"ES256": curved, "RS256": modular} {
		k, err := keys.FromPublic(signer.Public(), "card", alg)
		if err != nil {
			t.Fatal(err)
		}
		set, err := keys.NewSet(k)
		if err != nil {
			t.Fatal(err)
		}

		protected := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"` + alg + `","kid":"card"}`))
		digest := sha256.Sum256([]byte(protected + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"name":"n","skills":[]}`))))
		sig, err := signer.Sign(rand.Reader, digest[:], crypto.SHA256)
		if alg == "ES256" && err == nil { // RFC 7518 section 3.4
			r, s, failed := ecdsa.Sign(rand.Reader, curved, digest[:])
			sig, err = append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...), failed
		}
		if err != nil {
			t.Fatal(err)
		}
		text := `{"name":"n","skills":[],"signatures":[{"protected":"` + protected + `","signature":"` + base64.RawURLEncoding.EncodeToString(sig) + `"}]}`
		if got := outcome(judge(t, set, receipt.Policy{}, []byte(text))); got != "verified" {
			t.Errorf("%s: %s", alg, got)
		}
		if got := outcome(judge(t, set, receipt.Policy{}, []byte(strings.Replace(text, `"n"`, `"m"`, 1)))); got != "refuted signature_invalid" {
			t.Errorf("%s, another name: %s", alg, got)
		}
	}
}

// TestMalleability verifies that a signature is invalid if S is replaced by another integer with
// the same residue (RFC 8032 section 5.1.7).
func TestMalleability(t *testing.T) {
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	s := seeds(t)["acta-envelope"]
	_, digits, _ := strings.Cut(s.text, `"sig":"`)
	digits = digits[:128]
	sig, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}

	sum := new(big.Int).Add(littleEndian(sig[32:]), order).FillBytes(make([]byte, 32))
	for i := range 32 {
		sig[32+i] = sum[31-i]
	}
	text := strings.Replace(s.text, digits, hex.EncodeToString(sig), 1)
	if got := outcome(judge(t, s.trust, s.policy, []byte(text))); got != "refuted signature_invalid" {
		t.Errorf("%s", got)
	}
}

func littleEndian(b []byte) *big.Int {
	n := new(big.Int)
	for i := range b {
		n.Or(n, new(big.Int).Lsh(big.NewInt(int64(b[i])), uint(8*i)))
	}
	return n
}

// TestLossyNumbers verifies that a signature over one number does not verify another number that
// has the same canonical form.
func TestLossyNumbers(t *testing.T) {
	const payload = `{"type":"blindllm:x","issued_at":"2026-01-02T03:04:05Z","issuer_id":"sb:issuer:7","n":9007199254740993}`
	text := `{"payload":` + payload + `,"signature":{"alg":"EdDSA","kid":"sb:issuer:7","sig":"` + hex.EncodeToString(sign(jcs(t, payload))) + `"}}`
	if got := outcome(judge(t, testSet(t, "sb:issuer:7"), receipt.Policy{}, []byte(text))); got != "undecided number_precision" {
		t.Errorf("%s", got)
	}
}

// TestAuthority verifies that the same rules for keys apply as for this toolkit's own receipts.
func TestAuthority(t *testing.T) {
	all := seeds(t)
	at := func(year int) time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
	key := func(id string, change func(*keys.PublicKey)) *keys.Set {
		k, err := keys.FromPublic(testKey().Public().(ed25519.PublicKey), id, "")
		if err != nil {
			t.Fatal(err)
		}
		change(k)
		set, err := keys.NewSet(k)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	for _, test := range []struct {
		seed, id string
		change   func(*keys.PublicKey)
		policy   receipt.Policy
		want     string
	}{
		{"acta-envelope", "sb:issuer:7", func(k *keys.PublicKey) { k.Roles = []receipt.Role{receipt.RoleWitness} }, receipt.Policy{}, "refuted role_mismatch"},
		{"acta-envelope", "sb:issuer:7", func(k *keys.PublicKey) { k.NotAfter = at(2026) }, receipt.Policy{}, "refuted key_expired"},
		{"acta-envelope", "sb:issuer:7", func(k *keys.PublicKey) { k.NotBefore = at(2027) }, receipt.Policy{}, "refuted key_not_yet_valid"},
		{"acta-envelope", "sb:issuer:7", func(k *keys.PublicKey) { k.NotBefore = at(2027) }, receipt.Policy{At: at(2028)}, "verified"},
		{"acta-envelope", "sb:issuer:7", func(k *keys.PublicKey) { k.Revoked = &receipt.Revocation{At: at(2028), Reason: "key compromise"} }, receipt.Policy{}, "refuted key_revoked"},
		{"acta-envelope", "sb:issuer:7", func(k *keys.PublicKey) { k.Issuers = []string{"did:web:a"} }, receipt.Policy{Issuer: "did:web:a"}, "verified"},
		{"acta-envelope", "sb:issuer:7", func(k *keys.PublicKey) { k.Issuers = []string{"did:web:a"} }, receipt.Policy{Issuer: "did:web:b"}, "refuted issuer_mismatch"},
		{"obsigna", "did:a#1", func(k *keys.PublicKey) {}, receipt.Policy{}, "undecided issuer_unbound"},
		{"obsigna", "did:a#1", func(k *keys.PublicKey) { k.Issuers = []string{"did:b"} }, receipt.Policy{}, "refuted issuer_mismatch"},
		{"obsigna", "did:a#1", func(k *keys.PublicKey) {}, receipt.Policy{Issuer: "did:a"}, "verified"},
		{"obsigna", "did:a#1", func(k *keys.PublicKey) {}, receipt.Policy{Issuer: "did:b"}, "refuted issuer_mismatch"},
		{"pipelock-v1", "any name", func(k *keys.PublicKey) {}, receipt.Policy{}, "verified"},
		{"harn-provenance", "any name", func(k *keys.PublicKey) {}, receipt.Policy{}, "verified"},
		{"pipelock-v1", "p", func(k *keys.PublicKey) {}, receipt.Policy{Checkpoint: receipt.CheckpointRule{Required: true}}, "undecided checkpoint_required"},
		{"acta-envelope", "sb:issuer:7", func(k *keys.PublicKey) {}, receipt.Policy{Strict: true}, "undecided link_not_checked"},
	} {
		if got := outcome(judge(t, key(test.id, test.change), test.policy, []byte(all[test.seed].text))); got != test.want {
			t.Errorf("%s, %+v: %s; want %s", test.seed, test.policy, got, test.want)
		}
	}

	// Without keys, nothing shows that the content is intact, because these formats contain no
	// hash, and a signature alone cannot replace a hash.
	for _, name := range []string{"acta-envelope", "acta-flat", "pipelock-v1", "pipelock-v2", "obsigna", "a2a-card", "gilda-audit-record", "slsa-vsa", "in-toto-svr"} {
		if got := judge(t, nil, receipt.Policy{IntegrityOnly: true}, []byte(all[name].text)).Verdict; got != receipt.Undecided {
			t.Errorf("%s, integrity only: %s", name, got)
		}
	}
}

// TestCardRevoked verifies that a card is refuted if its key was stolen, although a card states no
// time.
func TestCardRevoked(t *testing.T) {
	s := seeds(t)["a2a-card"]
	for reason, want := range map[string]string{"superseded": "undecided signatures_not_checked", "": "refuted key_revoked"} {
		k, err := keys.FromPublic(testKey().Public(), "card", "")
		if err != nil {
			t.Fatal(err)
		}
		k.Revoked = &receipt.Revocation{At: time.Unix(1, 0), Reason: reason}
		set, err := keys.NewSet(k)
		if err != nil {
			t.Fatal(err)
		}
		if got := outcome(judge(t, set, receipt.Policy{}, []byte(s.text))); got != want {
			t.Errorf("revoked as %q: %s; want %s", reason, got, want)
		}
	}
}

// TestTrustRecords verifies which members and places of OpenTrustGraph records are permitted.
func TestTrustRecords(t *testing.T) {
	for members, want := range map[string]string{
		`"chain_index":1,"previous_hash":null`:                                     "verified",
		`"approver":null,"chain_index":1,"cost_usd":1.5,"previous_hash":null`:      "verified",
		`"chain_index":1,"previous_hash":"sha256:` + strings.Repeat("0", 64) + `"`: "refuted chain_break",
		`"chain_index":2,"previous_hash":"sha256:` + strings.Repeat("0", 64) + `"`: "verified",
		`"chain_index":2,"previous_hash":null`:                                     "refuted chain_break",
		`"chain_index":0,"previous_hash":null`:                                     "refuted chain_break",
		`"chain_index":1,"previous_hash":null,"note":1`:                            "refuted schema_invalid",
	} {
		unhashed := `{"schema":"opentrustgraph/v0.1","record_id":"r","agent":"a","action":"x","outcome":"success","trace_id":"t","autonomy_tier":"act_auto","timestamp":"2026-01-02T03:04:05Z","metadata":{},` + members
		text := unhashed + `,"entry_hash":"` + canon.Sum(jcs(t, unhashed+`}`)).String() + `"}`
		if got := outcome(judge(t, nil, receipt.Policy{IntegrityOnly: true}, []byte(text))); got != want {
			t.Errorf("%s: %s; want %s", members, got, want)
		}
	}
}

// TestPersona verifies that values of the wrong type refute a receipt of Harn.
func TestPersona(t *testing.T) {
	const text = `{"schema":"harn.receipt.v1","id":"r","parent_run_id":null,"persona":"p","step":null,"trace_id":"t","started_at":"2026-01-02T03:04:05Z","completed_at":null,"status":"success","inputs_digest":null,"outputs_digest":"sha256:00","model_calls":[{}],"tool_calls":[],"cost_usd":0,"approvals":[],"handoffs":[],"side_effects":[],"error":null,"redaction_class":"public","metadata":{}}`
	for _, test := range []struct{ from, to, want string }{
		{`"error":null`, `"error":{}`, "undecided unsigned"},
		{`"error":null`, `"error":"x"`, "refuted schema_invalid"},
		{`[{}]`, `[1]`, "refuted schema_invalid"},
		{`sha256:00`, `00`, "refuted schema_invalid"},
		{`"inputs_digest":null`, `"inputs_digest":1`, "refuted schema_invalid"},
	} {
		if got := outcome(judge(t, testSet(t, "k"), receipt.Policy{}, []byte(strings.Replace(text, test.from, test.to, 1)))); got != test.want {
			t.Errorf("%s: %s; want %s", test.to, got, test.want)
		}
	}
}
