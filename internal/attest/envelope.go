package attest

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// The media types of a bundle and of its payload.
const (
	MediaType   = "application/vnd.dev.sigstore.bundle.v0.3+json"
	PayloadType = "application/vnd.in-toto+json"
)

// MaxBytes is the maximum size of a bundle in bytes. It equals the limit for one document of an
// input, so a receipt of more than about 12 million bytes cannot be attested.
const MaxBytes = receipt.MaxBytes

// mediaPrefix is the common beginning of the media types of all bundle versions.
const mediaPrefix = "application/vnd.dev.sigstore.bundle"

// Encode returns the pre-authentication encoding of a payload, which the signature of a DSSE
// envelope covers.
func Encode(payloadType string, payload []byte) []byte {
	b := append([]byte("DSSEv1 "), strconv.Itoa(len(payloadType))...)
	b = append(append(b, ' '), payloadType...)
	b = append(strconv.AppendInt(append(b, ' '), int64(len(payload)), 10), ' ')
	return append(b, payload...)
}

// An Envelope is the content of a bundle: the claimed key, the payload, and the signature.
type Envelope struct {
	Key     string // the hint, which is the ID of the key; not covered by the signature
	Payload []byte

	payloadType string
	signature   []byte // base64
}

// Message returns the message that the signature covers.
func (e *Envelope) Message() []byte { return Encode(e.payloadType, e.Payload) }

// Bytes returns the bundle, followed by a newline.
func (e *Envelope) Bytes() []byte {
	b := []byte(`{"mediaType":"` + MediaType + `","verificationMaterial":{"publicKey":{"hint":`)
	b = canon.AppendString(b, e.Key)
	b = append(b, `}},"dsseEnvelope":{"payload":"`...)
	b = base64.StdEncoding.AppendEncode(b, e.Payload)
	b = append(b, `","payloadType":`...)
	b = canon.AppendString(b, e.payloadType)
	b = append(b, `,"signatures":[{"sig":`...)
	return append(canon.AppendString(b, e.signature), "}]}}\n"...)
}

// Open returns the statement in the envelope. It does not check the signature. The error is an
// *[Error].
func (e *Envelope) Open() (*Statement, error) {
	if e.payloadType != PayloadType {
		return nil, unsupported("/dsseEnvelope/payloadType", "payloadType is %s, expected %s", quote(e.payloadType), PayloadType)
	}
	s, err := parseStatement(e.Payload)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Is reports whether a document is a bundle, of any version and even if it is damaged. A document
// with members of a receipt is treated as a receipt.
func Is(doc *canon.Document) bool {
	root := doc.Root()
	if !root.Member("receipt_id").IsZero() || !root.Member("chain").IsZero() {
		return false
	}
	return strings.HasPrefix(root.Member("mediaType").String(), mediaPrefix) || !root.Member("dsseEnvelope").IsZero()
}

// Parse parses a bundle. The error is an *[Error].
func Parse(doc *canon.Document) (*Envelope, error) {
	e, err := parse(doc.Root())
	if err != nil {
		return nil, err
	}
	return e, nil
}

func parse(root canon.Node) (*Envelope, *Error) {
	if err := otherKind(root); err != nil {
		return nil, err
	}
	if media := root.Member("mediaType"); media.Kind() != canon.KindString {
		return nil, invalid("/mediaType", "mediaType is %s, expected %s", shown(media), MediaType)
	}
	if err := only(root, "", "mediaType", "verificationMaterial", "dsseEnvelope"); err != nil {
		return nil, err
	}

	e := new(Envelope)
	if err := e.parseKey(root.Member("verificationMaterial")); err != nil {
		return nil, err
	}
	if err := e.parseEnvelope(root.Member("dsseEnvelope")); err != nil {
		return nil, err
	}
	return e, nil
}

// otherKind returns the error for a bundle of another version or kind. Such a bundle may be valid,
// regardless of what else it contains, so it is reported as unsupported instead of invalid.
func otherKind(root canon.Node) *Error {
	if media := root.Member("mediaType"); media.Kind() == canon.KindString && media.String() != MediaType {
		return unsupported("/mediaType", "mediaType is %s, expected %s", shown(media), MediaType)
	}
	if !root.Member("messageSignature").IsZero() {
		return unsupported("/messageSignature", "the bundle signs bytes outside it, expected a DSSE envelope")
	}

	// These members would be separate evidence, which cannot be verified with a trust file.
	for name := range root.Member("verificationMaterial").Members() {
		switch name := name.String(); name {
		case "certificate", "x509CertificateChain", "tlogEntries", "timestampVerificationData":
			return unsupported("/verificationMaterial/"+name, "the bundle rests on %s, expected a publicKey alone", name)
		}
	}
	return nil
}

const maxKeyID = 1024 // in bytes, as in a trust file

// parseKey parses the ID of the claimed key. Certificates and log entries are unsupported, because
// they require a different trust model than a trust file.
func (e *Envelope) parseKey(material canon.Node) *Error {
	const at = "/verificationMaterial"
	if err := only(material, at, "publicKey"); err != nil {
		return err
	}
	if err := only(material.Member("publicKey"), at+"/publicKey", "hint"); err != nil {
		return err
	}

	hint := material.Member("publicKey").Member("hint")
	if e.Key = hint.String(); hint.Kind() != canon.KindString || e.Key == "" || len(e.Key) > maxKeyID {
		return invalid(at+"/publicKey/hint", "hint is %s, expected the id of the key, 1 to %d bytes", shown(hint), maxKeyID)
	}
	return nil
}

func (e *Envelope) parseEnvelope(envelope canon.Node) *Error {
	const at = "/dsseEnvelope"
	if err := only(envelope, at, "payload", "payloadType", "signatures"); err != nil {
		return err
	}

	// The DSSE signature covers the type together with the payload. Open checks the type.
	kind := envelope.Member("payloadType")
	if e.payloadType = kind.String(); kind.Kind() != canon.KindString {
		return invalid(at+"/payloadType", "payloadType is %s, expected %s", shown(kind), PayloadType)
	}

	var ok bool
	if e.Payload, ok = decode(envelope.Member("payload")); !ok {
		return invalid(payloadAt, "the payload is not standard base64 with padding, in its one encoding")
	}

	// A Sigstore bundle v0.3 contains exactly one signature.
	list := envelope.Member("signatures")
	if list.Kind() != canon.KindArray || list.Len() != 1 {
		return invalid(at+"/signatures", "expected one signature, found %d", list.Len())
	}
	for _, entry := range list.Elements() {
		return e.parseSignature(entry)
	}
	return nil
}

func (e *Envelope) parseSignature(entry canon.Node) *Error {
	const at = "/dsseEnvelope/signatures/0"
	if entry.Kind() != canon.KindObject {
		return invalid(at, "expected an object with sig")
	}
	// In DSSE, keyid is optional.
	for name := range entry.Members() {
		if !slices.Contains([]string{"sig", "keyid"}, name.String()) {
			return invalid(at, "unknown member %s; expected sig", quote(name.Text()))
		}
	}

	// If both keyid and hint are present, they must name the same key.
	if id := entry.Member("keyid"); !id.IsZero() && (id.Kind() != canon.KindString || id.String() != "" && id.String() != e.Key) {
		return invalid(at+"/keyid", "keyid is %s, the hint is %s", shown(id), quote(e.Key))
	}

	sig, ok := decode(entry.Member("sig"))
	if !ok || len(sig) == 0 || len(sig) > maxSignature {
		return invalid(at+"/sig", "the signature is not standard base64 with padding, in its one encoding, of 1 to %d bytes", maxSignature)
	}
	e.signature = bytes.Clone(entry.Member("sig").Text())
	return nil
}

const maxSignature = 3309 // in bytes, for ML-DSA-65

// decode decodes standard base64 with padding, and rejects line breaks and nonzero unused bits.
func decode(n canon.Node) ([]byte, bool) {
	text := n.Text()
	if n.Kind() != canon.KindString || bytes.ContainsAny(text, "\r\n") {
		return nil, false
	}
	data, err := base64.StdEncoding.Strict().AppendDecode(nil, text)
	return data, err == nil
}

// only checks that a value is an object with exactly these members.
func only(n canon.Node, at string, names ...string) *Error {
	if n.Kind() != canon.KindObject {
		return invalid(at, "expected an object with %s, found %s", strings.Join(names, ", "), shown(n))
	}
	for name := range n.Members() {
		if !slices.Contains(names, name.String()) {
			return invalid(at, "unknown member %s; expected %s", quote(name.Text()), strings.Join(names, ", "))
		}
	}
	for _, name := range names {
		if n.Member(name).IsZero() {
			return invalid(at+"/"+name, "%s is missing", name)
		}
	}
	return nil
}

// Sign puts a statement into an envelope and signs it. The signer must use an Ed25519, ES256, or
// ML-DSA-65 key; package keys provides such signers.
func Sign(ctx context.Context, s *Statement, signer receipt.Signer) (*Envelope, error) {
	return SignText(ctx, s.Bytes(), signer)
}

// SignText is like Sign, but for an in-toto statement with any predicate. It does not check the
// text of the statement.
func SignText(ctx context.Context, text []byte, signer receipt.Signer) (*Envelope, error) {
	e := &Envelope{Payload: text, payloadType: PayloadType}
	sig, err := signer.Sign(ctx, e.Message())
	if err != nil {
		return nil, fmt.Errorf("attest: %w", err)
	}

	// A bundle contains the base64 text without the prefix that a signature entry has.
	e.Key, e.signature = sig.KeyID, []byte(strings.TrimPrefix(sig.Signature, valuePrefix))
	if n := len(e.Bytes()); n > MaxBytes {
		return nil, invalid("", "the bundle would have %d bytes, at most %d are read", n, MaxBytes)
	}
	return e, nil
}

// valuePrefix is the prefix of a base64 value in a signature entry.
const valuePrefix = "base64:"
