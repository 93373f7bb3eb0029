// Package a2a reads signed agent cards (A2A 1.0, section 8.4).
//
//	signed bytes  protected ‖ "." ‖ base64url(JCS(card without signatures))
//
// According to the specification, signers omit members with default values unless the schema
// requires the members. A received card may contain such members, so two forms are tried: the card
// as received, and the card without empty members.
package a2a

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// maxEmpty is the maximum number of empty members in a card. If a card has more, the form without
// empty members is not tried.
const maxEmpty = 100

// Read reads an agent card.
func Read(doc *canon.Document) *receipt.Foreign {
	root := doc.Root()
	f := &receipt.Foreign{Format: "a2a-card", ID: root.Member("name").String()}
	form.Exact(f, doc)
	signatures := root.Member("signatures")
	if !form.Members(f, root, []string{"name", "skills", "signatures"}, nil) {
		return f
	}
	if root.Member("name").Kind() != canon.KindString { // it may be empty
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, "/name", "expected a string")
		return f
	}

	// The signatures cover the card as received, or the card without empty members.
	received := doc.AppendCanonical(nil, signatures)
	f.Hash = canon.Sum(received)
	forms := [][]byte{received}
	var empty []canon.Node
	reduced, _ := canon.Transform(appendReduced(nil, root, &empty, "signatures")) // doc was parsed, so the text is valid
	if len(empty) > 0 && len(empty) <= maxEmpty {
		forms = append(forms, reduced)
		for _, n := range empty {
			form.Uncovered(f, n.Pointer(), "an empty member means the same as none, and may not be signed")
		}
	}
	form.Uncovered(f, "/signatures", "no signature covers the unprotected headers and the other signatures")
	f.NotChecked = append(f.NotChecked, receipt.Note{Code: receipt.CodeSignaturesNotChecked, Pointer: "/signatures", Detail: "when it was signed: a card states no time, so keys with a validity period need --at"})

	for _, n := range signatures.Elements() {
		if !readSignature(f, n, forms) {
			return f
		}
	}
	if len(f.Checks) == 0 {
		form.Pass(f, receipt.StepSchema)
	}
	return f
}

// readSignature reads one signature, with the key ID and the algorithm from its protected header.
func readSignature(f *receipt.Foreign, n canon.Node, forms [][]byte) bool {
	refuse := func(code receipt.Code, why string) bool {
		form.Fail(f, receipt.StepSignatures, code, n.Pointer(), "%s", why)
		return false
	}
	if !form.Members(f, n, []string{"protected", "signature"}, []string{"header"}) {
		return false
	}
	protected := n.Member("protected").String()
	text, ok1 := form.URL(protected)
	sig, ok2 := form.URL(n.Member("signature").String())
	if !ok1 || !ok2 {
		return refuse(receipt.CodeMalformedSignature, "expected base64url without padding, in its one encoding")
	}
	header, err := canon.Parse(text)
	if err != nil {
		return refuse(receipt.CodeMalformedSignature, "the protected header is not strict JSON")
	}

	// The algorithm and the key ID are read only from the protected header, so that nobody can
	// replace them.
	alg, kid := header.Root().Member("alg").String(), header.Root().Member("kid").String()
	switch {
	case !header.Root().Member("crit").IsZero():
		form.Leave(f, receipt.StepSignatures, receipt.CodeUnsupportedAlgorithm, n.Pointer(), "the header has critical extensions, which are not known")
		return true
	case alg == "" || kid == "":
		return refuse(receipt.CodeMalformedSignature, "the protected header names no alg or no kid")
	case alg == "none" || strings.HasPrefix(alg, "HS"):
		return refuse(receipt.CodeMalformedSignature, "the algorithm "+untrusted.Quote(alg, 40)+" is not one of signatures with public keys")
	}
	for name := range n.Member("header").Members() {
		if !header.Root().Member(name.String()).IsZero() || name.String() == "alg" || name.String() == "kid" {
			return refuse(receipt.CodeMalformedSignature, "a member of the header is unprotected, and is protected or has to be")
		}
	}

	// RFC 9864 registers Ed25519 as the name for EdDSA with an Ed25519 key.
	s := receipt.ForeignSignature{KeyID: kid, Algorithm: alg, Value: sig, Pointer: n.Pointer()}
	if alg == "Ed25519" {
		s.Algorithm = "EdDSA"
	}
	for _, form := range forms {
		s.Messages = append(s.Messages, []byte(protected+"."+base64.RawURLEncoding.EncodeToString(form)))
	}
	f.Signatures = append(f.Signatures, s)
	return true
}

// kept returns the names of the members that are signed even if they are empty. The schema of the
// specification either requires these members, at any depth, or distinguishes between empty and
// absent.
func kept() []string {
	return []string{"name", "description", "version", "url", "protocolBinding", "protocolVersion", "supportedInterfaces", "capabilities", "defaultInputModes",
		"defaultOutputModes", "skills", "id", "tags", "organization", "uri", "streaming", "pushNotifications", "extendedAgentCard", "documentationUrl", "iconUrl"}
}

// appendReduced appends a card without the top-level member named omit, and without empty members
// that are not listed in kept. It appends the omitted empty members to the list empty.
func appendReduced(dst []byte, n canon.Node, empty *[]canon.Node, omit string) []byte {
	switch n.Kind() {
	case canon.KindArray:
		dst = append(dst, '[')
		for i, e := range n.Elements() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendReduced(dst, e, empty, "")
		}
		return append(dst, ']')
	case canon.KindObject:
		dst = append(dst, '{')
		first := true
		for name, value := range n.Members() {
			switch {
			case omit != "" && name.String() == omit:
				continue
			case isEmpty(value) && !slices.Contains(kept(), name.String()):
				*empty = append(*empty, value)
				continue
			case !first:
				dst = append(dst, ',')
			}
			first = false
			dst = appendReduced(append(append(dst, name.Raw()...), ':'), value, empty, "")
		}
		return append(dst, '}')
	}
	return append(dst, n.Raw()...)
}

// isEmpty reports whether a value is a default of the schema, which a signer omits.
func isEmpty(n canon.Node) bool {
	switch n.Kind() {
	case canon.KindString:
		return len(n.Text()) == 0
	case canon.KindArray:
		return n.Len() == 0
	case canon.KindNumber:
		return n.Float() == 0
	case canon.KindBool:
		return !n.Bool()
	}
	return n.Kind() == canon.KindNull
}
