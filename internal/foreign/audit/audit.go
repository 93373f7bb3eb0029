// Package audit reads agent audit records (draft-gilda-wimse-agent-audit-record): an in-toto
// statement in an envelope (DSSE), which an observer of the agent signs.
//
//	signed bytes  PAE of JCS(payload), which the reader derives from the payload
//	key           keyid, half of the SHA-256 of the observer's public key in hexadecimal digits
//
// The rules of the record relate its members to each other. They show that the record is
// consistent, and not that the observer was right.
package audit

import (
	"errors"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/receipt"
)

const payloadType = "application/vnd.in-toto+json"

// Read reads an envelope.
func Read(doc *canon.Document) *receipt.Foreign {
	root := doc.Root()
	f := &receipt.Foreign{Format: "gilda-audit-record"}
	if root.Member("payload").IsZero() {
		f.Leave(receipt.StepSchema, receipt.CodeUnsigned, "", "a statement without its envelope has no signature")
		return f
	}
	if !form.Members(f, root, []string{"payload", "payloadType", "signatures"}, []string{}) || !form.OneOf(f, root.Member("payloadType"), payloadType) {
		return f
	}

	// The payload is parsed once, with the same strictness as the envelope.
	text, ok := form.Base64(root.Member("payload").String())
	if !ok {
		f.Fail(receipt.StepParse, receipt.CodeSyntax, "/payload", "expected padded base64, in its one encoding")
		return f
	}
	inside := new(canon.Document)
	if err := inside.Parse(text, canon.Limits{Bytes: receipt.MaxBytes, Depth: receipt.MaxDepth}); err != nil {
		var syntax *canon.SyntaxError
		errors.As(err, &syntax) // the only type of error of Parse
		f.Fail(receipt.StepParse, receipt.Code(syntax.Code), "/payload", "the payload: %v", syntax)
		return f
	}
	message := inside.AppendCanonical(nil)
	f.Hash = canon.Sum(message)

	r := &record{f, inside.Root(), inside.Root().Member("predicate")}
	f.ID = r.p.Member("recordId").String()
	if r.check() {
		f.Pass(receipt.StepSchema)
		f.Pass(receipt.StepHash)
	}
	f.Uncovered("/signatures", "no signature covers keyid, which names the trusted key")
	for _, at := range []string{"observation/priorCommitment", "correlation/externalAnchor"} {
		group, name, _ := strings.Cut(at, "/")
		if !r.p.Member(group).Member(name).IsZero() {
			f.NotChecked = append(f.NotChecked, receipt.Note{Code: receipt.CodeBatchNotChecked, Pointer: "/payload", Detail: name + ": no evidence for its time was given"})
		}
	}
	readSignatures(f, root.Member("signatures"), message, r)
	return f
}

// readSignatures reads the signatures of the envelope.
func readSignatures(f *receipt.Foreign, list canon.Node, message []byte, r *record) {
	pae := append([]byte("DSSEv1 "+strconv.Itoa(len(payloadType))+" "+payloadType+" "+strconv.Itoa(len(message))+" "), message...)
	for _, n := range list.Elements() {
		if !form.Members(f, n, []string{"keyid", "sig"}, []string{}) {
			return
		}
		sig, ok := form.Base64(n.Member("sig").String())
		if !ok {
			f.Fail(receipt.StepSignatures, receipt.CodeMalformedSignature, n.Pointer(), "expected padded base64, in its one encoding")
			return
		}
		f.Signatures = append(f.Signatures, receipt.ForeignSignature{KeyID: n.Member("keyid").String(), Algorithm: "EdDSA", Messages: [][]byte{pae}, Value: sig, At: form.Time(r.p.Member("issuedAt")), Pointer: n.Pointer()})
	}
}
