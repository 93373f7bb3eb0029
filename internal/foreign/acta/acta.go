// Package acta reads receipts of Veritas Acta (draft-farley-acta-signed-receipts). A receipt is
// either an envelope with a payload and a signature, or a flat object of version 1, which contains
// its own signature.
//
//	signed bytes   envelope: JCS(payload)   flat: JCS(receipt without signature)
//	link           "sha256:" and the SHA-256 of JCS(predecessor with its signature)
//
// The kid of a receipt names its key, and equals payload.issuer_id. Keys inside a receipt are
// ignored.
package acta

import (
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// Read reads an envelope or a flat receipt.
func Read(doc *canon.Document) *receipt.Foreign {
	root := doc.Root()
	if root.Member("payload").IsZero() {
		return read(doc, &receipt.Foreign{Format: "acta-flat"}, root, root, root.Member("signature"), "")
	}

	f := &receipt.Foreign{Format: "acta-envelope"}
	signature := root.Member("signature")
	if !form.Members(f, root, []string{"payload", "signature"}, []string{}) || !form.Members(f, signature, []string{"alg", "kid", "sig"}, []string{}) {
		return f
	}
	if inner := root.Member("payload").Member("signature"); !inner.IsZero() {
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, inner.Pointer(), "a signature must not be inside the signed object, whatever its value")
	}
	form.Uncovered(f, "/signature/alg", "no signature covers the algorithm, which the trusted key determines")
	return read(doc, f, root.Member("payload"), signature, signature.Member("sig"), "/signature")
}

// read reads the payload and the object that contains alg and kid.
func read(doc *canon.Document, f *receipt.Foreign, payload, names, value canon.Node, at string) *receipt.Foreign {
	f.Hash = doc.Digest()
	form.Exact(f, doc)
	if !form.Strings(f, names, "alg", "kid") || !form.Strings(f, payload, "type") {
		return f
	}

	// In the flat form, the signature covers kid, so kid and issuer_id may differ.
	kid, issuer := names.Member("kid").String(), payload.Member("issuer_id")
	flat := at == ""
	switch {
	case issuer.IsZero() && flat: // the signature also covers kid
	case issuer.String() != kid:
		form.Fail(f, receipt.StepSignatures, receipt.CodeIssuerMismatch, issuer.Pointer(), "issuer_id and kid differ")
	}
	readType(f, payload.Member("type"))
	readLink(f, payload.Member("previousReceiptHash"))
	if !payload.Member("committed_fields_root").IsZero() {
		f.NotChecked = append(f.NotChecked, receipt.Note{Code: receipt.CodeRedactionsNotChecked, Pointer: payload.Pointer() + "/committed_fields_root", Detail: "the values that it commits to were not supplied"})
	}

	previous, _ := canon.ParseDigest([]byte("sha256:" + strings.TrimPrefix(payload.Member("previousReceiptHash").String(), "sha256:"))) // zero if it is absent
	f.Place = &receipt.ForeignPlace{Chain: kid, Sequence: -1, Previous: previous}

	// The length depends on the algorithm, which the trusted key determines.
	sig, ok := form.Hex(value.String(), 0)
	if !ok {
		form.Fail(f, receipt.StepSignatures, receipt.CodeMalformedSignature, value.Pointer(), "a signature consists of lowercase hexadecimal digits")
		return f
	}
	message := payload.AppendCanonical(nil)
	if flat {
		message = doc.AppendCanonical(nil, value)
	}

	at1 := form.Time(payload.Member("issued_at"))
	if at1.IsZero() {
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, payload.Pointer(), "issued_at is not a time of RFC 3339")
	}
	f.Signatures = []receipt.ForeignSignature{{KeyID: kid, Algorithm: names.Member("alg").String(), Messages: [][]byte{message}, Value: sig, At: at1, Pointer: at + "/kid"}}
	if !slices.ContainsFunc(f.Checks, func(c receipt.Check) bool { return c.Step == receipt.StepSchema }) {
		form.Pass(f, receipt.StepSchema)
	}
	return f
}

// readType leaves a receipt of an unknown type undecided, because the rules of its type are
// unknown.
func readType(f *receipt.Foreign, n canon.Node) {
	kind, name, _ := strings.Cut(n.String(), ":")
	switch kind {
	case "protectmcp":
		if slices.Contains([]string{"decision", "restraint", "lifecycle"}, name) {
			return
		}
	case "scopeblind":
		if name == "spending_authority" {
			return
		}
	case "blindllm", "veritasacta":
		if name != "" {
			return
		}
	}
	form.Leave(f, receipt.StepSchema, receipt.CodeUnsupportedSchema, n.Pointer(), "the type %s is not known", untrusted.Quote(n.Text(), 80))
}

// readLink checks the format of the link. The absence of a link does not show that a receipt is the
// first.
func readLink(f *receipt.Foreign, n canon.Node) {
	if !n.IsZero() {
		if _, ok := form.Hex(strings.TrimPrefix(n.String(), "sha256:"), 32); !ok {
			form.Fail(f, receipt.StepLink, receipt.CodeChainBreak, n.Pointer(), "the first receipt omits previousReceiptHash, and the others state a SHA-256 digest")
			return
		}
	}
	form.Leave(f, receipt.StepLink, receipt.CodeLinkNotChecked, n.Pointer(), "the predecessor was not given")
}
