package audit

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/receipt"
)

// FromReceipt returns the content of a receipt as an audit record, in canonical JSON. The argument
// public is the public half of the key that will sign the record.
//
// The producer of the receipt is its only observer, and the receipt contains no digests of trees.
// The record therefore marks the seven audit fields as asserted by the producer, and lists every
// other field in doesNotAssert. The effect "none" means that nobody observed an effect.
func FromReceipt(sealed *receipt.Sealed, public ed25519.PublicKey) ([]byte, error) {
	root := sealed.Document().Root()
	at := func(names ...string) canon.Node {
		n := root
		for _, name := range names {
			n = n.Member(name)
		}
		return n
	}
	digest := func(n canon.Node) string { return digestOf(n.AppendCanonical(nil)) }
	if at("subject").IsZero() || at("trust").IsZero() {
		return nil, errors.New("audit: the receipt states no subject or no trust")
	}

	// The audited request is the task. The receipt does not contain the arguments of the task.
	action, issued := at("subject", "object").String(), at("issued_at").String()
	resource := "urn:receiptkit:" + form.Escape(action) + ":" + form.Escape(at("subject", "id").String())
	request := digestOf(form.Canonical(map[string]any{"action": action, "resourceId": resource, "resourceKind": "uri"}))
	reported, agreement := "permit", "not-exercised"
	if at("lifecycle", "final_state").String() == "REJECTED" {
		reported, agreement = "deny", "agree"
	}

	// The receipt states no network policy, so the record claims the weakest posture.
	key, egress := sha256.Sum256(public), digest(at("side_effects", "network_egress"))
	const posture = "unsafe_bypass_egress"
	fields := map[string]any{}
	for _, name := range wimseFields() {
		fields[name] = "producer-asserted"
	}

	hash := at("chain", "receipt_hash").String()
	predicate := map[string]any{
		"recordId": at("receipt_id").String(), "tier": "voluntary", "hashAlgorithm": "sha256", "issuedAt": issued,
		"agent":      map[string]any{"id": at("issuer", "id").String(), "credentialDigest": hex.EncodeToString(key[:]), "authentication": "none", "signers": []string{hex.EncodeToString(key[:16])}},
		"delegation": map[string]any{"subject": "none", "subjectKind": "none", "authorityDigest": digest(at("trust"))},
		"resource":   map[string]any{"kind": "uri", "id": resource, "binding": "not-bindable"},
		"decision": map[string]any{"action": action, "requestDigest": request, "reported": reported, "decisionPointId": at("issuer", "id").String(),
			"policyDigest": digest(at("trust")), "reportedAt": issued},
		"effect":      map[string]any{"observed": "none", "pathScope": []string{}, "writes": []string{}},
		"agreement":   agreement,
		"correlation": map[string]any{"id": hash, "scope": "producer", "timeBasis": "asserted"},
		"posture": map[string]any{"reported": posture, "reportedDigest": egress, "observed": posture, "observedDigest": egress,
			"assessedAt": issued, "agreement": "agree"},
		"remediation":   []string{},
		"observation":   map[string]any{"vantage": "self", "coverage": map[string]any{"scopeComplete": false, "gaps": []string{}}},
		"fieldEvidence": fields,
		"doesNotAssert": []string{"effect", "agreement", "posture.observed", "posture.agreement", "observation", "evaluation"},
		"evaluation":    map[string]any{"status": "not-evaluated", "unavailableInput": []string{"policy-source", "standing-source"}},
	}
	return form.Canonical(map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "predicateType": "https://probityai.github.io/agent-evidence-vectors/predicate/v1/agent-audit-record",
		"subject": []any{map[string]any{"name": hash, "digest": map[string]any{"sha256": request}}}, "predicate": predicate,
	}), nil
}

func digestOf(text []byte) string { return form.HexOf(canon.Sum(text)) }
