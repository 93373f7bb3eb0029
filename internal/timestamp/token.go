package timestamp

import (
	"bytes"
	"context"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/notaryproject/tspclient-go"
)

// A Proof states that the stamped bytes existed before a time.
type Proof struct {
	Time      time.Time     // the time in the token, in UTC
	Accuracy  time.Duration // accuracy of Time; one second if the authority does not state it
	Authority string        // the subject of the authority's certificate, for which a root vouches

	Chain []*x509.Certificate // chain from the authority's certificate to the root
}

// Before returns the time before which the stamped bytes existed, in whole milliseconds.
func (p *Proof) Before() time.Time {
	return p.Time.Add(p.Accuracy + time.Millisecond - 1).Truncate(time.Millisecond)
}

// An InvalidError describes a token that is malformed, or that does not match its request.
type InvalidError struct{ Detail string }

func (e *InvalidError) Error() string { return "timestamp: " + e.Detail }

// A MissingError describes why a token proves nothing. Code is unknown_key if no root vouches for
// the authority, unsupported_algorithm if the token needs an unsupported algorithm, or
// time_self_asserted if there is no token.
type MissingError struct {
	Code   string // a code of package receipt
	Detail string
}

func (e *MissingError) Error() string { return "timestamp: " + e.Detail }

func unsupported(format string, args ...any) error {
	return &MissingError{"unsupported_algorithm", fmt.Sprintf(format, args...)}
}

// unvouched returns the error for an authority that no root vouches for.
func unvouched() error {
	return &MissingError{"unknown_key", "no root of the given ones vouches for the authority"}
}

func invalid(format string, args ...any) error {
	return &InvalidError{fmt.Sprintf(format, args...)}
}

// ParseRoots parses PEM certificates. It accepts only certificate authorities as roots, because any
// other certificate would vouch for itself.
func ParseRoots(data []byte) (*x509.CertPool, error) {
	pool, n := x509.NewCertPool(), 0
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}

		cert, err := x509.ParseCertificate(block.Bytes)
		switch {
		case err != nil:
			return nil, fmt.Errorf("timestamp: certificate %d: %w", n+1, err)
		case !cert.IsCA || !cert.BasicConstraintsValid:
			return nil, fmt.Errorf("timestamp: certificate %d, of %.200q, is not one of a certificate authority", n+1, cert.Subject.String())
		}
		pool.AddCert(cert)
		n++
	}
	switch {
	case n == 0:
		return nil, errors.New("timestamp: no certificate in PEM")
	case len(bytes.TrimSpace(data)) > 0:
		return nil, fmt.Errorf("timestamp: after certificate %d: expected the end or another certificate", n)
	}
	return pool, nil
}

// Object identifiers of SHA-256, and of the attributes that identify the signer's certificate by
// SHA-1 (RFC 3161) and by other hashes (RFC 5816).
const (
	sha256ID             = "2.16.840.1.101.3.4.2.1"
	signingCertificate   = "1.2.840.113549.1.9.16.2.12"
	signingCertificateV2 = "1.2.840.113549.1.9.16.2.47"
)

// A contentInfo is the ASN.1 structure of a token (RFC 5652, sections 3, 5.1, and 5.3). Package
// tspclient parses the token again. The types below omit nothing, so encoding them again detects
// every byte that the parser of tspclient ignores.
type contentInfo struct {
	Type    asn1.ObjectIdentifier
	Content struct {
		Version int
		Digests []pkix.AlgorithmIdentifier `asn1:"set"`
		Content struct {
			Type  asn1.ObjectIdentifier
			Bytes []byte `asn1:"explicit,tag:0"`
		}
		Certificates asn1.RawValue `asn1:"optional,tag:0"`
		Revocations  asn1.RawValue `asn1:"optional,tag:1"`
		Signers      []signerInfo  `asn1:"set"`
	} `asn1:"explicit,tag:0"`
}

type signerInfo struct {
	Version int
	Signer  struct {
		Issuer asn1.RawValue
		Serial *big.Int
	}
	Digest     pkix.AlgorithmIdentifier
	Attributes []attribute `asn1:"set,tag:0"`
	Algorithm  pkix.AlgorithmIdentifier
	Signature  []byte
	Unsigned   asn1.RawValue `asn1:"optional,tag:1"`
}

type attribute struct {
	Type   asn1.ObjectIdentifier
	Values asn1.RawValue
}

// parse returns the only signer of a DER token.
func parse(token []byte) (*signerInfo, error) {
	var c contentInfo
	rest, err := asn1.Unmarshal(token, &c)
	if err != nil {
		return nil, invalid("the token is malformed: %v", err)
	}
	again, err := asn1.Marshal(c)
	if err != nil || len(rest) > 0 || !bytes.Equal(again, token) {
		return nil, invalid("the token is not DER, or has bytes that are not part of it")
	}

	if err := exact(c.Content.Content.Bytes); err != nil {
		return nil, err
	}
	if certs := c.Content.Certificates; len(certs.FullBytes) > 0 && !certs.IsCompound {
		return nil, invalid("the certificates of the token are malformed")
	}

	// RFC 3161, section 2.4.2: the token contains the signature of the authority, and no other
	// signature.
	if len(c.Content.Signers) != 1 {
		return nil, invalid("the token has %d signers, expected 1", len(c.Content.Signers))
	}

	// RFC 5652, section 5.1: the list contains the hash algorithms of all signers.
	s := &c.Content.Signers[0]
	digests := c.Content.Digests
	if len(digests) != 1 || !digests[0].Algorithm.Equal(s.Digest.Algorithm) || !plain(digests[0]) || !plain(s.Digest) {
		return nil, invalid("the token lists other hash algorithms than that of its signer")
	}

	// RSA-PSS has parameters (RFC 4056), but ECDSA and RSA with PKCS #1 v1.5 have none.
	if !plain(s.Algorithm) {
		return nil, unsupported("the signature algorithm of the token has parameters, which is not supported")
	}
	if !isHash(s.Digest.Algorithm) || !isSignature(s.Algorithm.Algorithm) {
		return nil, unsupported("the token has the algorithms %v and %v, which are not supported", s.Digest.Algorithm, s.Algorithm.Algorithm)
	}
	return s, s.named()
}

// exact checks that the signed content of a token has the elements of TSTInfo in their order, and
// nothing else (RFC 3161, section 2.4.2). Package tspclient ignores additional elements.
func exact(content []byte) error {
	elements, ok := sequence(content, []byte{0x02, 0x06, 0x30, 0x02, 0x18}, []byte{0x30, 0x01, 0x02, 0xa0, 0xa1})
	if !ok {
		return invalid("the signed content of the token is malformed, or has elements that are not part of it")
	}
	const accuracy = 5 // index of the first optional element
	if len(elements) > accuracy && elements[accuracy].FullBytes[0] == 0x30 {
		if _, ok := sequence(elements[accuracy].FullBytes, nil, []byte{0x02, 0x80, 0x81}); !ok {
			return invalid("the accuracy of the token is malformed")
		}
	}
	return nil
}

// sequence returns the elements of a DER sequence. It reports whether the elements have the required
// tags, followed by any of the optional tags in their order.
func sequence(der, required, optional []byte) (elements []asn1.RawValue, ok bool) {
	// Unmarshal rejects lengths that are not DER (X.690, section 10.1), and keeps the bytes of the
	// elements.
	rest, err := asn1.Unmarshal(der, &elements)
	if err != nil || len(rest) > 0 || len(elements) < len(required) {
		return nil, false
	}
	for i, e := range elements {
		tag := e.FullBytes[0]
		if i < len(required) {
			if tag != required[i] {
				return nil, false
			}
			continue
		}
		next := bytes.IndexByte(optional, tag)
		if next < 0 {
			return nil, false
		}
		optional = optional[next+1:]
	}
	return elements, true
}

// isHash and isSignature report whether package tspclient supports an algorithm. The package
// supports SHA-2 as a hash, and RSA or ECDSA with SHA-2 as a signature.
func isHash(id asn1.ObjectIdentifier) bool {
	switch id.String() {
	case sha256ID, "2.16.840.1.101.3.4.2.2", "2.16.840.1.101.3.4.2.3":
		return true
	}
	return false
}

func isSignature(id asn1.ObjectIdentifier) bool {
	switch id.String() {
	case "1.2.840.113549.1.1.1", "1.2.840.113549.1.1.11", "1.2.840.113549.1.1.12", "1.2.840.113549.1.1.13",
		"1.2.840.10045.4.3.2", "1.2.840.10045.4.3.3", "1.2.840.10045.4.3.4":
		return true
	}
	return false
}

// plain reports whether an algorithm has no parameters.
func plain(a pkix.AlgorithmIdentifier) bool {
	p := a.Parameters.FullBytes
	return len(p) == 0 || bytes.Equal(p, asn1.NullBytes)
}

// named checks that the signed attributes identify the signer's certificate, and that no attribute
// occurs twice (RFC 5652, section 5.3).
func (s *signerInfo) named() error {
	seen := map[string]bool{}
	for _, a := range s.Attributes {
		if seen[a.Type.String()] {
			return invalid("the token has the signed attribute %v twice", a.Type)
		}
		seen[a.Type.String()] = true
	}

	// RFC 5816, section 2.2.1: either attribute identifies the certificate.
	switch {
	case seen[signingCertificateV2]:
		return s.certificateHash()
	case seen[signingCertificate]:
		return unsupported("the token names its certificate by SHA-1 (ESSCertID) only, which is not supported")
	}
	return invalid("the token does not name the certificate of its signer")
}

// certificateHash checks that the hash algorithm for the certificate is supported. Package
// tspclient compares the hash itself.
func (s *signerInfo) certificateHash() error {
	for _, a := range s.Attributes {
		var v struct {
			Certs []struct {
				Hash pkix.AlgorithmIdentifier `asn1:"optional"`
				Sum  []byte
			}
		}
		if a.Type.String() != signingCertificateV2 {
			continue
		}
		if _, err := asn1.Unmarshal(a.Values.Bytes, &v); err != nil || len(v.Certs) == 0 {
			return invalid("the name of the signer's certificate is malformed")
		}
		if id := v.Certs[0].Hash.Algorithm; id != nil && !isHash(id) {
			return unsupported("the token names its certificate by the hash %v, which is not supported", id)
		}
	}
	return nil
}

// Verify verifies the token at the time now. The certificates in roots vouch for authorities. The
// error is a *[InvalidError] or a *[MissingError].
func (s *Stamp) Verify(roots *x509.CertPool, now time.Time) (*Proof, error) {
	if s.Token == nil {
		return nil, &MissingError{"time_self_asserted", "no answer of an authority is attached"}
	}
	policy, err := parseID(s.Policy)
	if err != nil {
		return nil, invalid("%v", err)
	}
	return verify(s.Token, terms{s.message(), new(big.Int).SetBytes(s.nonce[:]), policy}, roots, now)
}

// terms contains what a token must match.
type terms struct {
	message []byte
	nonce   *big.Int
	policy  asn1.ObjectIdentifier // nil: any
}

func verify(token []byte, want terms, roots *x509.CertPool, now time.Time) (*Proof, error) {
	signer, err := parse(token)
	if err != nil {
		return nil, err
	}

	t, err := tspclient.ParseSignedToken(token)
	if err != nil {
		return nil, invalid("the token is malformed: %v", err)
	}
	info, err := t.Info()
	if err != nil {
		return nil, invalid("the token is malformed: %v", err)
	}
	if info.GenTime.IsZero() || info.GenTime.Location() != time.UTC {
		return nil, invalid("the time of the token is not in UTC") // a zero time would make the library use the clock
	}

	// The certificate must have been valid at the time of the token. The certificate may have
	// expired since then.
	chain, err := t.Verify(context.Background(), x509.VerifyOptions{Roots: roots, CurrentTime: info.GenTime})
	if unknown := (x509.UnknownAuthorityError{}); errors.As(err, &unknown) {
		return nil, unvouched()
	}
	if err != nil && !signer.vouched(t.Certificates, roots) {
		return nil, unvouched()
	}
	if err != nil {
		return nil, invalid("at %s: %v", info.GenTime.Format(time.RFC3339), err)
	}

	// Only the content of an authentic token can contradict the request.
	if err := signer.is(chain[0]); err != nil {
		return nil, err
	}
	if err := strong(chain); err != nil {
		return nil, err
	}
	if err := want.check(info, now); err != nil {
		return nil, err
	}

	name := chain[0].Subject.CommonName
	if name == "" {
		name = chain[0].Subject.String()
	}
	return &Proof{info.GenTime, accuracy(info), name, chain}, nil
}

// strong rejects chains with RSA keys that are too short, as trust files do.
func strong(chain []*x509.Certificate) error {
	for _, c := range chain {
		if k, ok := c.PublicKey.(*rsa.PublicKey); ok && k.N.BitLen() < 2048 {
			return unsupported("the certificate of %.200q has an RSA key of %d bits, expected at least 2048", c.Subject.String(), k.N.BitLen())
		}
	}
	return nil
}

// vouched reports whether a root vouches for the signer at any time, regardless of the uses that
// the certificate permits.
func (s *signerInfo) vouched(certs []*x509.Certificate, roots *x509.CertPool) bool {
	others := x509.NewCertPool()
	for _, c := range certs {
		others.AddCert(c)
	}
	for _, c := range certs {
		if !bytes.Equal(s.Signer.Issuer.FullBytes, c.RawIssuer) || s.Signer.Serial.Cmp(c.SerialNumber) != 0 {
			continue
		}

		plain := *c
		plain.UnhandledCriticalExtensions = nil
		_, err := plain.Verify(x509.VerifyOptions{Roots: roots, Intermediates: others, CurrentTime: c.NotBefore, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
		return !errors.As(err, new(x509.UnknownAuthorityError))
	}
	return true // the token does not contain the certificate, although the request asked for it
}

// is checks that a certificate belongs to the signer and permits signatures.
func (s *signerInfo) is(cert *x509.Certificate) error {
	if !bytes.Equal(s.Signer.Issuer.FullBytes, cert.RawIssuer) || s.Signer.Serial.Cmp(cert.SerialNumber) != 0 {
		return invalid("the token names another certificate as that of its signer")
	}

	// RFC 5280, section 4.2.1.3: without this extension, every use is permitted.
	const signs = x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment
	if cert.KeyUsage != 0 && cert.KeyUsage&signs == 0 {
		return invalid("the certificate of the authority does not allow signatures")
	}
	return nil
}

// check compares the content of a token with the request (RFC 3161, section 2.4.2).
func (t *terms) check(info *tspclient.TSTInfo, now time.Time) error {
	imprint := info.MessageImprint.HashAlgorithm
	if imprint.Algorithm.String() != sha256ID || !plain(imprint) {
		return invalid("the imprint has the hash algorithm %v, and SHA-256 was requested", imprint.Algorithm)
	}

	sum := sha256.Sum256(t.message)
	switch {
	case info.Version != 1:
		return invalid("the token has version %d, expected 1", info.Version)
	case !bytes.Equal(info.MessageImprint.HashedMessage, sum[:]):
		return invalid("the token is of other bytes")
	case info.Nonce == nil || info.Nonce.Cmp(t.nonce) != 0:
		return invalid("the nonce of the token is not that of the request")
	case t.policy != nil && !info.Policy.Equal(t.policy):
		return invalid("the token has the policy %v, and %v was requested", info.Policy, t.policy)
	case info.GenTime.After(now):
		return invalid("the time of the token, %s, is in the future", info.GenTime.Format(time.RFC3339))
	}

	for _, e := range info.Extensions {
		if e.Critical {
			return invalid("the token has the critical extension %v, which is not supported", e.Id)
		}
	}

	// The proven time is the time in the token plus the accuracy.
	a := info.Accuracy
	if a.Seconds < 0 || a.Seconds > maxAccuracy || a.Milliseconds < 0 || a.Milliseconds > 999 || a.Microseconds < 0 || a.Microseconds > 999 {
		return invalid("the accuracy of the token is out of range")
	}
	return nil
}

// maxAccuracy is the maximum accuracy of a token, in seconds: one leap year. A larger accuracy is
// an error.
const maxAccuracy = 366 * 24 * 3600

func accuracy(info *tspclient.TSTInfo) time.Duration {
	a := info.Accuracy
	if a == (tspclient.Accuracy{}) { // not stated: at best one second, the unit in which times are written
		return time.Second
	}
	return time.Duration(a.Seconds)*time.Second + time.Duration(a.Milliseconds)*time.Millisecond + time.Duration(a.Microseconds)*time.Microsecond
}
