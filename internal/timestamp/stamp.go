package timestamp

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/notaryproject/tspclient-go"

	"github.com/receiptkit/receiptkit/canon"
)

// Kinds of stamped bytes.
const (
	Receipt    = "receipt"
	Checkpoint = "checkpoint"
	Statement  = "statement"
)

// MaxBytes is the maximum size of a response, and of the JSON form of a Stamp.
const MaxBytes = 256 << 10

const (
	schema = "timestamp-2026-11"
	prefix = "receipt-anchor-blind/v1\n"
)

// A Stamp is a request for a time-stamp token, with the token if it has been attached.
type Stamp struct {
	Kind   string
	Digest canon.Digest // SHA-256 of the stamped bytes
	Policy string       // policy that the authority must apply; empty: any
	Token  []byte       // the token, not verified; nil until it is attached

	salt  [32]byte
	nonce [16]byte
}

// New returns a request for a time-stamp of the bytes with the given digest. policy is the object
// identifier of the required policy, or "".
func New(random io.Reader, kind string, digest canon.Digest, policy string) (*Stamp, error) {
	s := &Stamp{Kind: kind, Digest: digest, Policy: policy}
	for _, b := range [][]byte{s.salt[:], s.nonce[:]} {
		if _, err := io.ReadFull(random, b); err != nil {
			return nil, err
		}
	}
	_, err := parseID(policy)
	return s, err
}

// A document is the JSON form of a Stamp.
type document struct {
	Digest string `json:"digest"`
	Kind   string `json:"kind"`
	Nonce  string `json:"nonce"`
	Policy string `json:"policy,omitzero"`
	Salt   string `json:"salt"`
	Schema string `json:"schema"`
	Token  string `json:"token,omitzero"`
}

// JSON returns the canonical JSON of the stamp, followed by LF.
func (s *Stamp) JSON() ([]byte, error) {
	data, err := json.Marshal(&document{s.Digest.String(), s.Kind, hex.EncodeToString(s.nonce[:]), s.Policy, hex.EncodeToString(s.salt[:]), schema,
		base64.StdEncoding.EncodeToString(s.Token)})
	if err == nil {
		data, err = canon.Transform(data)
	}
	return append(data, '\n'), err
}

// Parse parses the JSON form of a stamp, which need not be canonical, and rejects all other data.
func Parse(data []byte) (*Stamp, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("timestamp: more than %d bytes", MaxBytes)
	}
	form, err := canon.Transform(data)
	if err != nil {
		return nil, fmt.Errorf("timestamp: %w", err)
	}
	var d document
	if err := json.Unmarshal(form, &d); err != nil || d.Schema != schema {
		return nil, fmt.Errorf("timestamp: expected an object with the schema %s", schema)
	}

	// Formatting the values again detects invalid values, because their text then differs.
	s := &Stamp{Kind: d.Kind, Policy: d.Policy}
	digest, invalid := canon.ParseDigest(d.Digest)
	_, policy := parseID(d.Policy)
	salt, salted := hex.DecodeString(d.Salt)
	nonce, named := hex.DecodeString(d.Nonce)
	token, encoded := base64.StdEncoding.DecodeString(d.Token)
	copy(s.salt[:], salt)
	copy(s.nonce[:], nonce)
	if s.Digest = digest; len(token) > 0 {
		s.Token = token
	}

	known := s.Kind == Receipt || s.Kind == Checkpoint || s.Kind == Statement
	again, err := s.JSON()
	if err := errors.Join(invalid, policy, salted, named, encoded, err); err != nil || !known || string(again) != string(form)+"\n" {
		return nil, errors.New("timestamp: expected the members digest, kind, nonce, salt, schema, and optionally policy and token")
	}
	return s, nil
}

// parseID parses an object identifier, such as 1.3.6.1.4.1.32473.1. It returns nil if text is
// empty.
func parseID(text string) (id asn1.ObjectIdentifier, err error) {
	if text == "" {
		return nil, nil
	}
	for arc := range strings.SplitSeq(text, ".") {
		n, _ := strconv.ParseUint(arc, 10, 31) // an invalid arc is formatted differently
		id = append(id, int(n))
	}
	if _, err := asn1.Marshal(id); err != nil || id.String() != text {
		return nil, fmt.Errorf("timestamp: invalid object identifier %.80q: expected numbers and periods", text)
	}
	return id, nil
}

// message returns the bytes whose SHA-256 is the imprint.
func (s *Stamp) message() []byte {
	return append(append([]byte(prefix), s.salt[:]...), s.Digest[:]...)
}

// Query returns the DER request to send to an authority (RFC 3161, section 2.4.1). The request asks
// the authority to include its certificate.
func (s *Stamp) Query() ([]byte, error) {
	policy, err := parseID(s.Policy)
	if err != nil {
		return nil, err
	}
	algorithm, err := parseID(sha256ID)
	if err != nil {
		return nil, err
	}

	imprint := sha256.Sum256(s.message())
	r := tspclient.Request{Version: 1, ReqPolicy: policy, Nonce: new(big.Int).SetBytes(s.nonce[:]), CertReq: true}
	r.MessageImprint.HashAlgorithm = pkix.AlgorithmIdentifier{Algorithm: algorithm, Parameters: asn1.NullRawValue}
	r.MessageImprint.HashedMessage = imprint[:]
	return r.MarshalBinary()
}

// A response is a TimeStampResp (RFC 3161, section 2.4.2). The corresponding type of package
// tspclient is not used, because it cannot encode a response with status strings again.
type response struct {
	Status struct {
		Status  int
		Text    []asn1.RawValue `asn1:"optional"`
		Failure asn1.BitString  `asn1:"optional"`
	}
	Token asn1.RawValue `asn1:"optional"`
}

// Attach extracts the token from a DER response (RFC 3161, section 2.4.2), and adds it to the
// stamp. Only a response that grants the request without changes has a token. Attach does not
// verify the token; call Verify.
func (s *Stamp) Attach(answer []byte) error {
	var r response
	rest, err := asn1.Unmarshal(answer, &r)
	if err == nil && r.Status.Status != 0 {
		return invalid("the authority did not grant the request: status %d, failure bits %x", r.Status.Status, r.Status.Failure.Bytes)
	}

	// Encoding the response again detects bytes that the parser ignores.
	if again, _ := asn1.Marshal(r); err != nil || len(rest) > 0 || !bytes.Equal(again, answer) {
		return invalid("the answer is not a time-stamp response in DER")
	}
	if len(r.Token.FullBytes) == 0 {
		return invalid("the answer has no token")
	}
	s.Token = r.Token.FullBytes
	return nil
}
