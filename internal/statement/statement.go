package statement

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

const (
	schema      = "stream-state-2026-11"
	payloadType = "application/vnd.receiptkit.stream-state+json"
	maxCount    = 1<<53 - 1 // the largest integer that every JSON reader preserves
)

// MaxBytes is the maximum size of a line with a statement.
const MaxBytes = 64 << 10

// A Statement states the number of receipts in a stream at a given time.
type Statement struct {
	Stream   chain.Stream
	Count    uint64
	Head     canon.Digest  // zero if Count is 0
	At       time.Time     // in whole seconds
	Previous canon.Digest  // digest of the previous statement; zero for the first statement
	Within   time.Duration // in whole seconds; 0 if absent, as in a final statement
	Final    bool
}

// A document is the JSON form of a Statement.
type document struct {
	At       string         `json:"at"`
	Count    uint64         `json:"count"`
	Final    bool           `json:"final"`
	Head     *string        `json:"head"`
	Previous *string        `json:"previous"`
	Schema   string         `json:"schema"`
	Stream   streamDocument `json:"stream"`
	Within   uint64         `json:"within,omitzero"`
}

type streamDocument struct {
	Issuer    string  `json:"issuer_id"`
	Tenant    *string `json:"tenant_id,omitzero"`
	Workspace string  `json:"workspace_ref"`
}

// text returns a digest as text, or nil if the digest is zero.
func text(d canon.Digest) *string {
	if d.IsZero() {
		return nil
	}
	s := d.String()
	return &s
}

// Payload returns the canonical JSON of the statement.
func (s *Statement) Payload() ([]byte, error) {
	d := document{At: s.At.UTC().Format(time.RFC3339), Count: s.Count, Final: s.Final, Head: text(s.Head), Previous: text(s.Previous), Schema: schema,
		Stream: streamDocument{Issuer: s.Stream.Issuer, Workspace: s.Stream.Workspace}, Within: uint64(s.Within / time.Second)}
	if s.Stream.HasTenant {
		d.Stream.Tenant = &s.Stream.Tenant
	}
	data, err := json.Marshal(&d)
	if err == nil {
		data, err = canon.Transform(data)
	}
	return data, err
}

// check returns an error if the statement contradicts itself.
func (s *Statement) check() error {
	switch {
	case s.Stream.Issuer == "" || s.Stream.Workspace == "":
		return errors.New("the stream has no issuer_id or workspace_ref")
	case s.Count > maxCount:
		return fmt.Errorf("count is above %d", uint64(maxCount))
	case s.Count == 0 && !s.Head.IsZero() || s.Count > 0 && s.Head.IsZero():
		return errors.New("head must be null if count is 0, and only then")
	case s.Final && s.Within != 0:
		return errors.New("a final statement has no within")
	case s.Within < 0 || s.Within%time.Second != 0 || s.At.Nanosecond() != 0:
		return errors.New("times are in whole seconds")
	}
	return nil
}

// An envelope is a DSSE v1 envelope.
type envelope struct {
	Payload     string              `json:"payload"`
	PayloadType string              `json:"payloadType"`
	Signatures  []envelopeSignature `json:"signatures"`
}

type envelopeSignature struct {
	KeyID string `json:"keyid"`
	Sig   string `json:"sig"`
}

// form returns the canonical form of the envelope. A comparison with the source detects member
// names with different capitalization, which encoding/json accepts.
func (e *envelope) form() ([]byte, error) {
	data, err := json.Marshal(e)
	if err == nil {
		data, err = canon.Transform(data)
	}
	return data, err
}

// message returns the bytes to sign, which are the pre-authentication encoding of DSSE. The message
// begins with "DSSEv1 ", so it can never be a receipt hash, a note, or a cosignature.
func message(payload []byte) []byte {
	return append(fmt.Appendf(nil, "DSSEv1 %d %s %d ", len(payloadType), payloadType, len(payload)), payload...)
}

// Sign returns the signed envelope as a line that ends with LF.
func (s *Statement) Sign(ctx context.Context, signer receipt.Signer) ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("statement: %w", err)
	}
	payload, err := s.Payload()
	if err != nil {
		return nil, fmt.Errorf("statement: %w", err)
	}
	sig, err := signer.Sign(ctx, message(payload))
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(&envelope{base64.StdEncoding.EncodeToString(payload), payloadType,
		[]envelopeSignature{{sig.KeyID, strings.TrimPrefix(sig.Signature, "base64:")}}})
	return append(line, '\n'), err
}

// A Signed is a statement in an envelope. Its signature has not been verified.
type Signed struct {
	Statement
	Digest canon.Digest // of the payload

	payload    []byte
	signatures []envelopeSignature
}

// A SyntaxError describes why a line is not a valid statement.
type SyntaxError struct{ Detail string }

func (e *SyntaxError) Error() string { return "statement: " + e.Detail }

// ErrSchema indicates that a statement has another schema, such as a later version.
var ErrSchema = errors.New("statement: unsupported schema; expected " + schema)

// Parse parses a line with a signed statement. It accepts exactly the statements that Sign writes,
// with 1 to 16 signatures. The error is [ErrSchema] or a *[SyntaxError].
func Parse(line []byte) (*Signed, error) {
	bad := func(format string, args ...any) (*Signed, error) {
		return nil, &SyntaxError{fmt.Sprintf(format, args...)}
	}
	if len(line) > MaxBytes {
		return bad("the line has more than %d bytes", MaxBytes)
	}
	form, err := canon.Transform(line)
	if err != nil {
		return bad("%v", err)
	}
	var e envelope
	if err := strict(line, &e); err != nil || e.PayloadType != payloadType {
		return bad("expected a DSSE envelope with the payload type %s", payloadType)
	}
	if again, err := e.form(); err != nil || string(again) != string(form) {
		return bad("the envelope has members other than payload, payloadType, and signatures with keyid and sig")
	}
	payload, err := base64.StdEncoding.Strict().DecodeString(e.Payload)
	if err != nil || len(e.Signatures) == 0 || len(e.Signatures) > 16 {
		return bad("expected a payload in base64, and 1 to 16 signatures")
	}

	doc, err := canon.Parse(payload)
	if err != nil {
		return bad("payload: %v", err)
	}
	if found := doc.Root().Member("schema").String(); found != schema {
		return nil, fmt.Errorf("%w, found %.80q", ErrSchema, found)
	}
	var d document
	if err := strict(payload, &d); err != nil {
		return bad("payload: %v", err)
	}
	s, err := d.statement()
	if err != nil {
		return bad("payload: %v", err)
	}

	// Each payload has exactly one valid form, so equal statements have equal digests.
	if again, err := s.Payload(); err != nil || string(again) != string(payload) {
		return bad("the payload is not the canonical form of its statement")
	}
	return &Signed{*s, canon.Sum(payload), payload, e.Signatures}, nil
}

// strict decodes JSON, and rejects unknown members.
func strict(data []byte, v any) error {
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// statement converts a document to a Statement.
func (d *document) statement() (s *Statement, err error) {
	s = &Statement{Count: d.Count, Final: d.Final, Stream: chain.Stream{Issuer: d.Stream.Issuer, Workspace: d.Stream.Workspace}}
	if d.Stream.Tenant != nil {
		s.Stream.Tenant, s.Stream.HasTenant = *d.Stream.Tenant, true
	}
	if s.At, err = time.Parse("2006-01-02T15:04:05Z", d.At); err != nil {
		return nil, errors.New("at must be an RFC 3339 time with Z and whole seconds")
	}
	for _, f := range []struct {
		text *string
		to   *canon.Digest
	}{{d.Head, &s.Head}, {d.Previous, &s.Previous}} {
		if f.text == nil {
			continue
		}
		if *f.to, err = canon.ParseDigest(*f.text); err != nil {
			return nil, fmt.Errorf("head and previous must be digests: %w", err)
		}
	}
	if d.Within > math.MaxInt64/uint64(time.Second) {
		return nil, errors.New("within is too large")
	}
	s.Within = time.Duration(d.Within) * time.Second
	return s, s.check()
}

// ParseFile parses a file with one statement per line. For each line that is not a valid statement,
// it calls fault with the line number and the error from [Parse].
func ParseFile(data []byte, fault func(line int, err error)) (list []*Signed) {
	for number, line := range strings.Split(string(data), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		s, err := Parse([]byte(line))
		if err != nil {
			fault(number+1, err)
			continue
		}
		list = append(list, s)
	}
	return list
}
