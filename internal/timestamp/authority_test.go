package timestamp

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/notaryproject/tspclient-go"

	"github.com/receiptkit/receiptkit/canon"
)

// began is the time from which an authority's certificates are valid.
var began = time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)

// An authority is a time-stamping authority that can make mistakes. It has a root, an intermediate,
// and its own certificate.
type authority struct {
	roots, others *x509.CertPool
	key           *ecdsa.PrivateKey
	chain         []byte // the certificates that are included in a token
	leaf          *x509.Certificate
}

// newAuthority returns an authority. The function change may modify its certificate.
func newAuthority(t *testing.T, change func(*x509.Certificate)) *authority {
	t.Helper()
	return newAuthorityOf(t, newKey(t), change)
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// newAuthorityOf returns an authority whose intermediate certificate has the given key.
func newAuthorityOf(t *testing.T, middleKey crypto.Signer, change func(*x509.Certificate)) *authority {
	t.Helper()
	ca := func(name string) *x509.Certificate {
		return &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: began, NotAfter: began.AddDate(10, 0, 0),
			IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	}
	usage, err := asn1.Marshal([]asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 8}})
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "TSA"}, NotBefore: began, NotAfter: began.AddDate(1, 0, 0), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: usage}}}
	if change != nil {
		change(template)
	}

	a := &authority{roots: x509.NewCertPool(), others: x509.NewCertPool(), key: newKey(t)}
	rootKey, otherKey := newKey(t), newKey(t)
	root := certificate(t, ca("Root"), rootKey, ca("Root"), rootKey)
	other := certificate(t, ca("Other"), otherKey, ca("Other"), otherKey)
	middle := certificate(t, ca("Middle"), middleKey, root, rootKey)
	a.leaf = certificate(t, template, a.key, middle, middleKey)
	a.roots.AddCert(root)
	a.others.AddCert(other)
	a.chain = append(slices.Clone(a.leaf.Raw), middle.Raw...)
	return a
}

func certificate(t *testing.T, template *x509.Certificate, key crypto.Signer, parent *x509.Certificate, signer crypto.Signer) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// An info is the content of a token. It is declared here because package tspclient has no type that
// can be encoded.
type info struct {
	Version    int
	Policy     asn1.ObjectIdentifier
	Imprint    tspclient.MessageImprint
	Serial     *big.Int
	Time       time.Time          `asn1:"generalized"`
	Accuracy   tspclient.Accuracy `asn1:"optional"`
	Nonce      *big.Int           `asn1:"optional"`
	Extensions []pkix.Extension   `asn1:"optional,tag:1"`
	Extra      asn1.RawValue      `asn1:"optional"` // not part of TSTInfo
}

// A mistake changes the content of a token, or the token itself before or after it is signed.
type mistake struct {
	info   func(*info)
	attrs  func([]attribute) []attribute
	signed func(*contentInfo)
}

// answer returns the authority's response to a request.
func (a *authority) answer(t *testing.T, query []byte, at time.Time, m mistake) []byte {
	t.Helper()
	return answerWith(t, a.token(t, query, at, m))
}

// answerWith returns a response that grants a request.
func answerWith(t *testing.T, token []byte) []byte {
	t.Helper()
	return marshal(t, struct {
		Status struct{ Status int }
		Token  asn1.RawValue
	}{Token: asn1.RawValue{FullBytes: token}})
}

func (a *authority) token(t *testing.T, query []byte, at time.Time, m mistake) []byte {
	t.Helper()
	var r tspclient.Request
	if err := r.UnmarshalBinary(query); err != nil {
		t.Fatal(err)
	}
	stated := &info{1, r.ReqPolicy, r.MessageImprint, big.NewInt(7), at, tspclient.Accuracy{Seconds: 1, Milliseconds: 500}, r.Nonce, nil, asn1.RawValue{}}
	if stated.Policy == nil {
		stated.Policy = asn1.ObjectIdentifier{1, 2, 3}
	}
	if m.info != nil {
		m.info(stated)
	}
	content := marshal(t, *stated)

	// The signature covers the attributes, which in turn cover the content (RFC 5652, section 5.4).
	digest, leaf := sha256.Sum256(content), sha256.Sum256(a.leaf.Raw)
	attrs := []attribute{
		attributeOf(t, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}),
		attributeOf(t, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}, digest[:]),
		attributeOf(t, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47}, [][][][]byte{{{leaf[:]}}}),
	}
	if m.attrs != nil {
		attrs = m.attrs(attrs)
	}
	signed, err := asn1.MarshalWithParams(attrs, "set")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(signed)
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, sum[:])
	if err != nil {
		t.Fatal(err)
	}

	sha := pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}}
	s := signerInfo{Version: 1, Digest: sha, Attributes: attrs, Algorithm: pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}}, Signature: signature}
	s.Signer.Issuer.FullBytes, s.Signer.Serial = a.leaf.RawIssuer, a.leaf.SerialNumber
	c := contentInfo{Type: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}}
	c.Content.Version, c.Content.Digests, c.Content.Signers = 3, []pkix.AlgorithmIdentifier{sha}, []signerInfo{s}
	c.Content.Content.Type, c.Content.Content.Bytes = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}, content
	c.Content.Certificates = asn1.RawValue{Class: asn1.ClassContextSpecific, IsCompound: true, Bytes: a.chain}
	if m.signed != nil {
		m.signed(&c)
	}
	return marshal(t, c)
}

// attributeOf returns an attribute that has a single value.
func attributeOf(t *testing.T, id asn1.ObjectIdentifier, value any) attribute {
	t.Helper()
	return attribute{id, asn1.RawValue{Tag: asn1.TagSet, IsCompound: true, Bytes: marshal(t, value)}}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	der, err := asn1.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// request returns a stamp that was created with fixed randomness and the query for it.
func request(t *testing.T, policy string) (*Stamp, []byte) {
	t.Helper()
	s, err := New(bytes.NewReader(bytes.Repeat([]byte{0x5a}, 48)), Checkpoint, canon.Sum([]byte("stamped bytes")), policy)
	if err != nil {
		t.Fatal(err)
	}
	query, err := s.Query()
	if err != nil {
		t.Fatal(err)
	}
	return s, query
}
