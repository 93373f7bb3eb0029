package form

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

const (
	payloadType = "application/vnd.in-toto+json"
	mediaType   = "application/vnd.dev.sigstore.bundle.v0.3+json"
)

// A Statement is an in-toto statement in a DSSE envelope, which may in turn be in a Sigstore
// bundle.
type Statement struct {
	Text      []byte // text of the statement, exactly as in the envelope
	Document  *canon.Document
	Predicate canon.Node

	signatures canon.Node
	hint       string // key ID from the bundle
	lenient    bool
}

// OpenStatement opens the envelope of a statement. If there is no valid envelope, it records the
// reason and returns nil. A lenient reader follows the DSSE specification: it ignores unknown
// members and lists them as not covered, and it accepts both base64 alphabets and signatures
// without keyid.
func OpenStatement(f *receipt.Foreign, root canon.Node, lenient bool) *Statement {
	s := &Statement{lenient: lenient}
	if bundled := root.Member("dsseEnvelope"); !bundled.IsZero() {
		key := root.Member("verificationMaterial").Member("publicKey").Member("hint")
		if root.Member("mediaType").String() != mediaType || root.Member("verificationMaterial").Len() != 1 || key.IsZero() {
			Leave(f, receipt.StepSchema, receipt.CodeAttestationUnsupported, "", "the bundle is of another version than 0.3, or relies on more than a public key")
			return nil
		}
		if !Members(f, root, []string{"mediaType", "verificationMaterial", "dsseEnvelope"}, []string{}) {
			return nil
		}
		s.hint, root = key.String(), bundled
	}

	if root.Member("payload").IsZero() {
		Leave(f, receipt.StepSchema, receipt.CodeUnsigned, "", "a statement without its envelope has no signature")
		return nil
	}
	if !s.members(f, root, "payload", "payloadType", "signatures") || !OneOf(f, root.Member("payloadType"), payloadType) {
		return nil
	}

	// The payload is parsed as strictly as the envelope.
	var ok bool
	if s.Text, ok = s.decode(root.Member("payload")); !ok {
		Fail(f, receipt.StepParse, receipt.CodeSyntax, "/payload", "expected padded base64, in its one encoding")
		return nil
	}
	if s.Document = Payload(f, s.Text, "/payload"); s.Document == nil {
		return nil
	}
	s.signatures = root.Member("signatures")
	s.Predicate = s.Document.Root().Member("predicate")
	return s
}

// Signatures adds the signatures of the envelope to f. The argument text contains the bytes of the
// statement that the signatures cover.
func (s *Statement) Signatures(f *receipt.Foreign, text []byte, algorithm, issuer string, at time.Time) {
	// The signatures cover the pre-authentication encoding (DSSE v1).
	pae := append([]byte("DSSEv1 "+strconv.Itoa(len(payloadType))+" "+payloadType+" "+strconv.Itoa(len(text))+" "), text...)
	for _, n := range s.signatures.Elements() {
		if n.Member("keyid").IsZero() && (s.lenient || s.hint != "") {
			if !s.members(f, n, "sig") {
				return
			}
		} else if !s.members(f, n, "sig", "keyid") {
			return
		}
		value, ok := s.decode(n.Member("sig"))
		if !ok {
			Fail(f, receipt.StepSignatures, receipt.CodeMalformedSignature, n.Pointer(), "expected padded base64, in its one encoding")
			return
		}
		id := s.hint
		if id == "" {
			id = n.Member("keyid").String()
		}
		signature := receipt.ForeignSignature{KeyID: id, Algorithm: algorithm, Issuer: issuer, Messages: [][]byte{pae}, Value: value, DER: true, At: at, Pointer: n.Pointer()}
		if id == "" {
			signature.Unsure = "the envelope names no key, and none of those in question made the signature"
		}
		f.Signatures = append(f.Signatures, signature)
	}
	Uncovered(f, s.signatures.Pointer(), "no signature covers the name of the key")
}

// members checks the members of an object in the envelope.
func (s *Statement) members(f *receipt.Foreign, n canon.Node, names ...string) bool {
	if !s.lenient {
		return Members(f, n, names, []string{})
	}
	for name, value := range n.Members() {
		if !slices.Contains(names, name.String()) {
			Uncovered(f, value.Pointer(), "no signature covers a member of the envelope that is not known")
		}
	}
	return Members(f, n, names, nil)
}

// decode decodes padded base64. A lenient reader accepts both alphabets.
func (s *Statement) decode(n canon.Node) ([]byte, bool) {
	text := n.String()
	if s.lenient {
		text = strings.NewReplacer("-", "+", "_", "/").Replace(text)
	}
	return Base64(text)
}
