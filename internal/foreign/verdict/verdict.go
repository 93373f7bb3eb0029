// Package verdict reads signed verification results: SLSA verification summaries (VSA) and in-toto
// simple verification results (SVR), both of which are in-toto statements in DSSE envelopes.
//
//	signed bytes  PAE of the payload
//	author        verifier.id, for which the trust file must name the key
//
// A VSA states that its subjects passed or failed. An SVR lists only properties that its subjects
// have, so it cannot state a failure. Unknown members are ignored, as both specifications require.
package verdict

import (
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// ReadVSA reads a verification summary (VSA).
func ReadVSA(doc *canon.Document) *receipt.Foreign {
	return read(doc, "slsa-vsa", "timeVerified", func(f *receipt.Foreign, p canon.Node) bool {
		policy := p.Member("policy")
		if !form.Strings(f, p, "resourceUri") || !form.Members(f, p, []string{"policy", "verificationResult", "verifiedLevels"}, nil) ||
			!form.OneOf(f, p.Member("verificationResult"), "PASSED", "FAILED") || !texts(f, p.Member("verifiedLevels")) {
			return false
		}
		if policy.Member("uri").IsZero() && policy.Member("digest").IsZero() {
			form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, policy.Pointer(), "the policy has neither a uri nor a digest")
			return false
		}
		f.NotChecked = append(f.NotChecked, receipt.Note{Code: receipt.CodeStatementNotChecked, Detail: "the verdict " + p.Member("verificationResult").String() + " is that of its verifier"})
		return true
	})
}

// ReadSVR reads a simple verification result (SVR). Version 0.1 of SVR does not require policies.
func ReadSVR(doc *canon.Document) *receipt.Foreign {
	return read(doc, "in-toto-svr", "timeCreated", func(f *receipt.Foreign, p canon.Node) bool {
		if !form.Members(f, p, []string{"properties"}, nil) || !texts(f, p.Member("properties")) {
			return false
		}
		f.NotChecked = append(f.NotChecked, receipt.Note{Code: receipt.CodeStatementNotChecked, Detail: "the properties are those that its verifier states"})
		return true
	})
}

// read reads a statement, and calls check to check its predicate.
func read(doc *canon.Document, format, timeName string, check func(*receipt.Foreign, canon.Node) bool) *receipt.Foreign {
	f := &receipt.Foreign{Format: format}
	s := form.OpenStatement(f, doc.Root(), true)
	if s == nil {
		return f
	}
	root, p := s.Document.Root(), s.Predicate
	f.Hash = canon.Sum(s.Text)

	verifier, at := p.Member("verifier"), form.Time(p.Member(timeName))
	if !form.Members(f, p, []string{"verifier", timeName}, nil) || !form.Strings(f, verifier, "id") || !subjects(f, root) {
		return f
	}

	// VSA and version 0.1 of SVR have no list of policies.
	switch policies := verifier.Member("policies"); {
	case at.IsZero():
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, p.Member(timeName).Pointer(), "not a time of RFC 3339")
		return f
	case policies.Kind() != canon.KindArray && strings.HasSuffix(root.Member("predicateType").String(), "svr/v0.2"):
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, verifier.Pointer(), "expected an array policies")
		return f
	}
	if check(f, p) {
		form.Pass(f, receipt.StepSchema)
	}

	// Reports identify the statement by its first subject.
	for _, n := range root.Member("subject").Elements() {
		f.ID = n.Member("name").String()
		break
	}
	f.NotChecked = append(f.NotChecked, receipt.Note{Code: receipt.CodeStatementNotChecked, Pointer: "/payload", Detail: "the subjects of the verdict, of which the digests are stated, and its time"})
	author(f, s, verifier.Member("id"), at)
	return f
}

// author reads the signatures. If the verifier is identified by a key, each signature must be by
// that key. Otherwise, the key of each signature must be trusted for the verifier.
func author(f *receipt.Foreign, s *form.Statement, id canon.Node, at time.Time) {
	issuer := id.String()
	key, isKey := strings.CutPrefix(issuer, keyURN)
	if isKey {
		issuer = ""
	} else if escaped, found := strings.CutPrefix(issuer, issuerURN); found {
		issuer = form.Unescape(escaped)
	}
	s.Signatures(f, s.Text, "", issuer, at)

	// A verifier that is identified by a key can sign only with this key.
	for _, signature := range f.Signatures {
		if isKey && form.Escape(signature.KeyID) != key {
			form.Fail(f, receipt.StepSignatures, receipt.CodeIssuerMismatch, id.Pointer(), "the verifier is %s, and another key signed", untrusted.Quote(key, 80))
		}
	}
}

// subjects checks that each subject has a digest.
func subjects(f *receipt.Foreign, root canon.Node) bool {
	list := root.Member("subject")
	if !form.OneOf(f, root.Member("_type"), "https://in-toto.io/Statement/v1") {
		return false
	}
	if list.Kind() != canon.KindArray || list.Len() == 0 {
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, "/subject", "expected at least one subject")
		return false
	}
	for _, n := range list.Elements() {
		if n.Member("digest").Len() == 0 {
			form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, n.Pointer(), "a subject has no digest")
			return false
		}
	}
	return true
}

// texts checks that a list contains only strings.
func texts(f *receipt.Foreign, list canon.Node) bool {
	if list.Kind() != canon.KindArray {
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, list.Pointer(), "expected an array")
		return false
	}
	for _, n := range list.Elements() {
		if n.Kind() != canon.KindString {
			form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, n.Pointer(), "expected a string")
			return false
		}
	}
	return true
}
