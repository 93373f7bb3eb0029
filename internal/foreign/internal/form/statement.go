package form

import (
	"errors"
	"strconv"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

const (
	payloadType = "application/vnd.in-toto+json"
	mediaType   = "application/vnd.dev.sigstore.bundle.v0.3+json"
)

// A Statement is an in-toto statement in an envelope (DSSE), which may be in a bundle (Sigstore).
type Statement struct {
	Text      []byte // as the envelope contains it
	Document  *canon.Document
	Predicate canon.Node

	signatures canon.Node
	hint       string // of a bundle: the ID of the key
}

// OpenStatement opens the envelope of a statement. It returns nil if there is none, and records
// why.
func OpenStatement(f *receipt.Foreign, root canon.Node) *Statement {
	s := new(Statement)
	if bundled := root.Member("dsseEnvelope"); !bundled.IsZero() {
		key := root.Member("verificationMaterial").Member("publicKey").Member("hint")
		if root.Member("mediaType").String() != mediaType || root.Member("verificationMaterial").Len() != 1 || key.IsZero() {
			f.Leave(receipt.StepSchema, receipt.CodeAttestationUnsupported, "", "the bundle is of another version than 0.3, or relies on more than a public key")
			return nil
		}
		if !Members(f, root, []string{"mediaType", "verificationMaterial", "dsseEnvelope"}, []string{}) {
			return nil
		}
		s.hint, root = key.String(), bundled
	}

	if root.Member("payload").IsZero() {
		f.Leave(receipt.StepSchema, receipt.CodeUnsigned, "", "a statement without its envelope has no signature")
		return nil
	}
	if !Members(f, root, []string{"payload", "payloadType", "signatures"}, []string{}) || !OneOf(f, root.Member("payloadType"), payloadType) {
		return nil
	}

	// The payload is parsed once, with the same strictness as the envelope.
	var ok bool
	if s.Text, ok = Base64(root.Member("payload").String()); !ok {
		f.Fail(receipt.StepParse, receipt.CodeSyntax, "/payload", "expected padded base64, in its one encoding")
		return nil
	}
	s.Document, s.signatures = new(canon.Document), root.Member("signatures")
	if err := s.Document.Parse(s.Text, canon.Limits{Bytes: receipt.MaxBytes, Depth: receipt.MaxDepth}); err != nil {
		var syntax *canon.SyntaxError
		errors.As(err, &syntax) // the only type of error of Parse
		f.Fail(receipt.StepParse, receipt.Code(syntax.Code), "/payload", "the payload: %v", syntax)
		return nil
	}
	s.Predicate = s.Document.Root().Member("predicate")
	return s
}

// Signatures adds the signatures of the envelope over the given bytes of the statement.
func (s *Statement) Signatures(f *receipt.Foreign, text []byte, algorithm, issuer string, at time.Time) {
	// The pre-authentication encoding (DSSE v1).
	pae := append([]byte("DSSEv1 "+strconv.Itoa(len(payloadType))+" "+payloadType+" "+strconv.Itoa(len(text))+" "), text...)
	for _, n := range s.signatures.Elements() {
		required, optional := []string{"sig", "keyid"}, []string{}
		if s.hint != "" {
			required, optional = []string{"sig"}, []string{"keyid"}
		}
		if !Members(f, n, required, optional) {
			return
		}
		value, ok := Base64(n.Member("sig").String())
		if !ok {
			f.Fail(receipt.StepSignatures, receipt.CodeMalformedSignature, n.Pointer(), "expected padded base64, in its one encoding")
			return
		}
		id := s.hint
		if id == "" {
			id = n.Member("keyid").String()
		}
		f.Signatures = append(f.Signatures, receipt.ForeignSignature{KeyID: id, Algorithm: algorithm, Issuer: issuer, Messages: [][]byte{pae}, Value: value, DER: true, At: at, Pointer: n.Pointer()})
	}
	f.Uncovered(s.signatures.Pointer(), "no signature covers the name of the key")
}
