package verdict

import (
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/receipt"
)

// Prefixes of verifier URIs, for verifiers that are identified by an issuer ID or by a key ID.
const (
	issuerURN = "urn:receiptkit:issuer:"
	keyURN    = "urn:receiptkit:key:"
)

// Issuer returns the verifier URI for an issuer ID, which need not be a URI.
func Issuer(id string) string {
	const uri = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!$&'()*+,;=%" // RFC 3986 section 2
	if scheme, rest, found := strings.Cut(id, ":"); found && scheme != "" && rest != "" && form.Escape(scheme) == scheme && strings.Trim(id, uri) == "" {
		return id
	}
	return issuerURN + form.Escape(id)
}

// Key returns the verifier URI for a verifier that is known only by its key ID.
func Key(id string) string { return keyURN + form.Escape(id) }

// A Verdict is the result of a verification, as stated by the verifier. It has at least one subject
// and one policy.
type Verdict struct {
	Verifier   string // a URI
	At         time.Time
	Subjects   []Subject
	Refuted    bool // false means verified; there is no Verdict for an undecided result
	Properties []string
	Policies   []Resource   // a VSA states only the first policy
	Report     canon.Digest // zero: none
}

// A Subject is a verified receipt, or the head of a verified stream.
type Subject struct {
	Name   string
	Digest canon.Digest
}

// A Resource is an input for a verification, such as a policy.
type Resource struct {
	URI    string
	Digest canon.Digest // zero: unknown
}

// Property returns the property that an SVR states for a step that passed, such as RECEIPT_HASH.
func Property(s receipt.Step) string {
	return "RECEIPT_" + strings.ToUpper(strings.TrimSuffix(s.String(), "s"))
}

// SVR returns a simple verification result in canonical JSON. It ignores Refuted, because an SVR
// cannot state a failure. Callers must not call it if Refuted is set.
func (v *Verdict) SVR() []byte {
	var policies []any
	for _, p := range v.Policies {
		policies = append(policies, p.descriptor())
	}
	return v.statement("https://in-toto.io/attestation/svr/v0.2", map[string]any{
		"verifier":    map[string]any{"id": v.Verifier, "policies": policies},
		"timeCreated": receipt.At(v.At), "properties": v.Properties,
	})
}

// VSA returns a verification summary in canonical JSON.
func (v *Verdict) VSA() []byte {
	result, levels := "PASSED", v.Properties
	if v.Refuted {
		result, levels = "FAILED", []string{"FAILED"}
	}
	predicate := map[string]any{
		"verifier": map[string]any{"id": v.Verifier}, "timeVerified": receipt.At(v.At),
		"resourceUri": "urn:receiptkit:" + v.Subjects[0].Digest.String(), "policy": v.Policies[0].descriptor(),
		"verificationResult": result, "verifiedLevels": levels,
	}
	if !v.Report.IsZero() {
		predicate["inputAttestations"] = []any{Resource{"urn:receiptkit:report", v.Report}.descriptor()}
	}
	return v.statement("https://slsa.dev/verification_summary/v1", predicate)
}

// descriptor returns a ResourceDescriptor.
func (r Resource) descriptor() map[string]any {
	d := map[string]any{"uri": r.URI}
	if !r.Digest.IsZero() {
		d["digest"] = hexDigest(r.Digest)
	}
	return d
}

func hexDigest(d canon.Digest) map[string]string {
	return map[string]string{"sha256": form.HexOf(d)}
}

func (v *Verdict) statement(predicateType string, predicate any) []byte {
	var subjects []any
	for _, s := range v.Subjects {
		subjects = append(subjects, map[string]any{"name": s.Name, "digest": hexDigest(s.Digest)})
	}
	return form.Canonical(map[string]any{"_type": "https://in-toto.io/Statement/v1", "predicateType": predicateType, "subject": subjects, "predicate": predicate})
}
