// Package audit reads agent audit records (draft-gilda-wimse-agent-audit-record): in-toto
// statements in DSSE envelopes that are signed by an observer of the agent.
//
//	signed bytes  PAE of JCS(payload), which the reader derives from the payload
//	key           keyid, half of the SHA-256 of the observer's public key in hexadecimal digits
//
// The rules of the format relate the members of a record to each other. These rules show that the
// record is consistent, but not that the observer was right.
package audit

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/receipt"
)

// Read reads an envelope, which may be in a Sigstore bundle.
func Read(doc *canon.Document) *receipt.Foreign {
	f := &receipt.Foreign{Format: "gilda-audit-record"}
	s := form.OpenStatement(f, doc.Root(), false)
	if s == nil {
		return f
	}
	message := s.Document.AppendCanonical(nil)
	f.Hash = canon.Sum(message)

	r := &record{f, s.Document.Root(), s.Predicate}
	f.ID = r.p.Member("recordId").String()
	if r.check() {
		form.Pass(f, receipt.StepSchema) // the digests in the record do not cover the entire record
	}
	for _, at := range []string{"observation/priorCommitment", "correlation/externalAnchor"} {
		group, name, _ := strings.Cut(at, "/")
		if !r.p.Member(group).Member(name).IsZero() {
			f.NotChecked = append(f.NotChecked, receipt.Note{Code: receipt.CodeBatchNotChecked, Pointer: "/payload", Detail: name + ": no evidence for its time was supplied"})
		}
	}
	s.Signatures(f, message, "EdDSA", "", form.Time(r.p.Member("issuedAt")))
	return f
}
