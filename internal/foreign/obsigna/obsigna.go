// Package obsigna reads agent receipts (agent-receipts, obsigna), which have the structure of a W3C
// Verifiable Credential but use a different signature scheme.
//
//	signed bytes   JCS(receipt without proof)
//	hash and link  "sha256:" and the SHA-256 of the same bytes; proof is not covered
package obsigna

import (
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/foreign/internal/form"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// Read reads one receipt.
func Read(doc *canon.Document) *receipt.Foreign {
	root := doc.Root()
	f := &receipt.Foreign{Format: "obsigna", ID: root.Member("id").String()}
	proof, subject := root.Member("proof"), root.Member("credentialSubject")
	f.Hash = doc.Digest(proof)
	form.Exact(f, doc)

	if !form.Members(f, root, []string{"@context", "type", "id", "version", "issuer", "issuanceDate", "credentialSubject", "proof"}, nil) ||
		!form.Members(f, subject, []string{"principal", "action", "outcome", "chain"}, nil) ||
		!form.Members(f, proof, []string{"type", "created", "verificationMethod", "proofPurpose", "proofValue"}, []string{}) {
		return f
	}
	known := readSchema(f, root, subject)
	readChain(f, subject.Member("chain"))

	// The signed bytes do not include the proof, so its members are compared with fixed values.
	if proof.Member("type").String() != "Ed25519Signature2020" || proof.Member("proofPurpose").String() != "assertionMethod" {
		form.Fail(f, receipt.StepSignatures, receipt.CodeMalformedSignature, "/proof", "expected the type Ed25519Signature2020 and the purpose assertionMethod")
	}
	form.Uncovered(f, "/proof", "no signature covers created and verificationMethod")
	value, multibase := strings.CutPrefix(proof.Member("proofValue").String(), "u")
	sig, ok := form.URL(value)
	if !multibase || !ok || len(sig) != 64 {
		form.Fail(f, receipt.StepSignatures, receipt.CodeMalformedSignature, "/proof/proofValue", `expected "u" and the base64url of 64 bytes`)
		return f
	}

	issuer, chain := root.Member("issuer").Member("id").String(), subject.Member("chain")
	previous, _ := canon.ParseDigest(chain.Member("previous_receipt_hash").Text()) // null in the first receipt
	sequence, _ := form.Integer(chain.Member("sequence"))                          // readChain has already checked it
	f.Place = &receipt.ForeignPlace{Chain: issuer + " " + chain.Member("chain_id").String(), Sequence: sequence, Previous: previous, Last: chain.Member("terminal").Bool()}
	f.Signatures = []receipt.ForeignSignature{{KeyID: proof.Member("verificationMethod").String(), Algorithm: "EdDSA", Issuer: issuer,
		Messages: [][]byte{doc.AppendCanonical(nil, proof)}, Value: sig, At: form.Time(root.Member("issuanceDate")), Pointer: "/proof"}}
	if known && !slices.ContainsFunc(f.Checks, func(c receipt.Check) bool { return c.Step == receipt.StepSchema }) {
		form.Pass(f, receipt.StepSchema)
	}
	return f
}

// readSchema checks versions, fixed values, and members that must not be null.
func readSchema(f *receipt.Foreign, root, subject canon.Node) bool {
	version := root.Member("version").String()
	if !slices.Contains([]string{"0.1.0", "0.2.0", "0.2.1", "0.3.0", "0.4.0", "0.5.0", "0.6.0"}, version) {
		form.Leave(f, receipt.StepSchema, receipt.CodeUnsupportedSchema, "/version", "the version %s is not known", untrusted.Quote(version, 80))
		return false
	}
	if !form.Strings(f, root, "id") || !form.Strings(f, root.Member("issuer"), "id") || form.Time(root.Member("issuanceDate")).IsZero() {
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, "", "id, issuer.id, or issuanceDate is missing or malformed")
		return false
	}

	action, outcome := subject.Member("action"), subject.Member("outcome")
	if !form.Strings(f, action, "id", "type") || !form.OneOf(f, action.Member("risk_level"), "low", "medium", "high", "critical") ||
		!form.OneOf(f, outcome.Member("status"), "success", "failure", "pending") {
		return false
	}

	// SDKs remove null members before they sign, so a member with null would give the same receipt
	// a second meaning.
	for _, n := range []canon.Node{root, subject, action, outcome, root.Member("issuer"), subject.Member("chain")} {
		for name, value := range n.Members() {
			if value.Kind() == canon.KindNull && name.String() != "previous_receipt_hash" {
				form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, n.Pointer(), "%s is null, and would be omitted", untrusted.Quote(name.Text(), 80))
				return false
			}
		}
	}
	return true
}

// readChain checks the members that state the place of a receipt in its chain. If there is only one
// receipt, some of these checks are not possible.
func readChain(f *receipt.Foreign, chain canon.Node) {
	sequence, ok := form.Integer(chain.Member("sequence"))
	previous := chain.Member("previous_receipt_hash")
	if !ok || sequence < 1 || !form.Strings(f, chain, "chain_id") {
		form.Fail(f, receipt.StepSchema, receipt.CodeSchemaInvalid, chain.Pointer(), "sequence is an integer from 1, and chain_id is a string")
		return
	}

	_, err := canon.ParseDigest(previous.Text())
	switch {
	case previous.Kind() == canon.KindNull && sequence == 1:
		form.Pass(f, receipt.StepLink)
	case err != nil || sequence == 1:
		form.Fail(f, receipt.StepLink, receipt.CodeChainBreak, chain.Pointer(), "the first receipt states null, and the others state a digest")
	default:
		form.Leave(f, receipt.StepLink, receipt.CodeLinkNotChecked, previous.Pointer(), "the predecessor was not given")
	}
}
