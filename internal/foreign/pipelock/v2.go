package pipelock

import (
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// ReadV2 reads an evidence receipt.
func ReadV2(doc *canon.Document) *receipt.Foreign {
	root := doc.Root()
	f := &receipt.Foreign{Format: "pipelock-v2", ID: root.Member("event_id").String(), Hash: doc.Digest()}
	form.Exact(f, doc)
	signature := root.Member("signature")
	required := []string{"record_type", "receipt_version", "payload_kind", "event_id", "timestamp", "signature", "chain_seq", "chain_prev_hash", "payload"}
	names := []string{"signer_key_id", "key_purpose", "algorithm", "signature"}
	if !form.Members(f, root, required, nil) || !form.Members(f, signature, names, []string{}) || !form.Strings(f, root, "payload_kind", "event_id") {
		return f
	}
	readKind(f, root)
	form.Leave(f, receipt.StepLink, receipt.CodeLinkNotChecked, "/chain_prev_hash", "the predecessor was not given")

	previous, _ := canon.ParseDigest([]byte("sha256:" + root.Member("chain_prev_hash").String())) // zero in the first receipt
	if seq, ok := form.Integer(root.Member("chain_seq")); ok {
		f.Place = &receipt.ForeignPlace{Chain: signature.Member("signer_key_id").String(), Sequence: seq, Previous: previous}
	}

	// The signed bytes contain empty strings as the members of signature, so the members are
	// compared with fixed values. The only purpose of the member signer_key_id is to select the
	// trusted key that must verify the signature.
	form.Uncovered(f, "/signature", "no signature covers signer_key_id, key_purpose, and algorithm")
	value, prefixed := strings.CutPrefix(signature.Member("signature").String(), "ed25519:")
	sig, ok := form.Hex(value, 64)
	switch {
	case signature.Member("key_purpose").String() != "receipt-signing":
		form.Fail(f, receipt.StepSignatures, receipt.CodeRoleMismatch, "/signature/key_purpose", "expected receipt-signing")
	case signature.Member("algorithm").String() != "ed25519" || !prefixed || !ok:
		form.Fail(f, receipt.StepSignatures, receipt.CodeMalformedSignature, "/signature", `expected the algorithm ed25519, and "ed25519:" and 128 hexadecimal digits`)
	default:
		f.Signatures = []receipt.ForeignSignature{{KeyID: signature.Member("signer_key_id").String(), Algorithm: "EdDSA", Messages: [][]byte{unsigned(root)},
			Value: sig, At: form.Time(root.Member("timestamp")), Pointer: "/signature"}}
	}
	return f
}

// readKind leaves a receipt undecided if its kind, its version, or a critical extension is unknown.
func readKind(f *receipt.Foreign, root canon.Node) {
	kind, crit := root.Member("payload_kind").String(), root.Member("crit")
	if crit.IsZero() {
		crit = root.Member("payload").Member("crit")
	}
	known := slices.Contains([]string{"proxy_decision", "shadow_delta", "opportunity_missing", "key_rotation"}, kind) || strings.HasPrefix(kind, "contract_")
	switch {
	case string(root.Member("receipt_version").Raw()) != "2" || !known:
		form.Leave(f, receipt.StepSchema, receipt.CodeUnsupportedSchema, "/payload_kind", "version %s with the payload %s is not known",
			untrusted.Quote(root.Member("receipt_version").Raw(), 80), untrusted.Quote(kind, 80))
	case !crit.IsZero():
		form.Leave(f, receipt.StepSchema, receipt.CodeUnsupportedSchema, crit.Pointer(), "the receipt has critical extensions, which are not known")
	case form.Time(root.Member("timestamp")).IsZero():
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, "/timestamp", "not a time of RFC 3339")
	case len(f.Checks) == 0:
		form.Pass(f, receipt.StepSchema)
	}
}

// unsigned returns the canonical form of a receipt in which the members of signature are empty
// strings.
func unsigned(root canon.Node) []byte {
	text := []byte{'{'}
	for name, value := range root.Members() {
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(text, name.Raw()...), ':')
		if name.String() == "signature" {
			text = append(text, `{"algorithm":"","key_purpose":"","signature":"","signer_key_id":""}`...)
		} else {
			text = append(text, value.Raw()...)
		}
	}
	text, _ = canon.Transform(append(text, '}')) // root was parsed, so the text is valid
	return text
}
