package timestamp

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/notaryproject/tspclient-go"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/receipt"
)

var (
	stamped = began.AddDate(0, 1, 0)
	now     = began.AddDate(3, 0, 0) // a time at which the authority's certificate has expired
)

// outcome returns the verdict that an error from Verify represents and the beginning of the error
// text.
func outcome(err error) (verdict, text string) {
	var missing *MissingError
	switch {
	case err == nil:
		return "verified", ""
	case errors.As(err, &missing):
		return "undecided", err.Error()
	}
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		return "no outcome", err.Error()
	}
	return "refuted", err.Error()
}

// TestVerify verifies that a token is accepted long after its authority's certificate has expired,
// and that every mistake is detected.
func TestVerify(t *testing.T) {
	expired := func(c *x509.Certificate) { c.NotAfter = stamped.Add(-time.Second) }
	early := func(c *x509.Certificate) { c.NotBefore = stamped.Add(time.Second) }
	usage := func(critical bool, ids ...asn1.ObjectIdentifier) func(*x509.Certificate) {
		return func(c *x509.Certificate) {
			c.ExtraExtensions[0].Critical, c.ExtraExtensions[0].Value = critical, marshal(t, ids)
		}
	}
	timeStamping, signing := asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 8}, asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 3, 3}
	v1 := attributeOf(t, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 12}, [][][][]byte{{{make([]byte, 20)}}})
	stated := func(f func(*info)) mistake { return mistake{info: f} }
	signed := func(f func(*contentInfo)) mistake { return mistake{signed: f} }
	attrs := func(f func(list []attribute) []attribute) mistake { return mistake{attrs: f} }
	oid := func(text string) asn1.ObjectIdentifier {
		id, err := parseID(text)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	const sha3256 = "2.16.840.1.101.3.4.2.8"
	named := func(l []attribute, hash string) []attribute { // an ESSCertIDv2 that states the hash algorithm explicitly
		type name struct {
			Hash pkix.AlgorithmIdentifier
			Sum  []byte
		}
		sum := l[2].Values.Bytes[len(l[2].Values.Bytes)-sha256.Size:]
		l[2] = attributeOf(t, l[2].Type, [][]name{{{pkix.AlgorithmIdentifier{Algorithm: oid(hash)}, sum}}})
		return l
	}

	for name, c := range map[string]struct {
		change  func(*x509.Certificate)
		mistake mistake
		policy  string
		want    string
		text    string
	}{
		"honest":                    {want: "verified"},
		"honest, with a policy":     {policy: "1.2.3.4", want: "verified"},
		"no accuracy":               {mistake: stated(func(i *info) { i.Accuracy.Seconds, i.Accuracy.Milliseconds = 0, 0 }), want: "verified"},
		"no name":                   {change: func(c *x509.Certificate) { c.Subject = pkix.Name{Organization: []string{"O"}} }, want: "verified"},
		"extension":                 {mistake: stated(func(i *info) { i.Extensions = []pkix.Extension{{Id: timeStamping}} }), want: "verified"},
		"expired at the time":       {change: expired, want: "refuted", text: "expired"},
		"not yet valid at the time": {change: early, want: "refuted", text: "not yet valid"},
		"no EKU":                    {change: func(c *x509.Certificate) { c.ExtraExtensions = nil }, want: "refuted", text: "extended key usage"},
		"EKU not critical":          {change: usage(false, timeStamping), want: "refuted", text: "critical"},
		"two EKUs":                  {change: usage(true, timeStamping, signing), want: "refuted", text: "only have"},
		"another EKU":               {change: usage(true, signing), want: "refuted", text: "incompatible key usage"},
		"no signatures allowed":     {change: func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyAgreement }, want: "refuted", text: "does not allow signatures"},
		"another imprint":           {mistake: stated(func(i *info) { i.Imprint.HashedMessage = make([]byte, 32) }), want: "refuted", text: "other bytes"},
		"short imprint":             {mistake: stated(func(i *info) { i.Imprint.HashedMessage = i.Imprint.HashedMessage[:20] }), want: "refuted", text: "other bytes"},
		"SHA-384": {mistake: stated(func(i *info) {
			i.Imprint.HashAlgorithm.Algorithm = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 2}
		}), want: "refuted", text: "hash algorithm"},
		"SHA-1":                      {mistake: stated(func(i *info) { i.Imprint.HashAlgorithm.Algorithm = asn1.ObjectIdentifier{1, 3, 14, 3, 2, 26} }), want: "refuted", text: "hash algorithm"},
		"parameters of the imprint":  {mistake: stated(func(i *info) { i.Imprint.HashAlgorithm.Parameters = asn1.RawValue{FullBytes: []byte{4, 0}} }), want: "refuted", text: "hash algorithm"},
		"another policy":             {policy: "1.2.3.4", mistake: stated(func(i *info) { i.Policy[3] = 5 }), want: "refuted", text: "policy 1.2.3.5"},
		"another nonce":              {mistake: stated(func(i *info) { i.Nonce = big.NewInt(1) }), want: "refuted", text: "nonce"},
		"no nonce":                   {mistake: stated(func(i *info) { i.Nonce = nil }), want: "refuted", text: "nonce"},
		"version 2":                  {mistake: stated(func(i *info) { i.Version = 2 }), want: "refuted", text: "version"},
		"future":                     {mistake: stated(func(i *info) { i.Time = now.Add(time.Second) }), change: func(c *x509.Certificate) { c.NotAfter = now.AddDate(1, 0, 0) }, want: "refuted", text: "future"},
		"offset":                     {mistake: stated(func(i *info) { i.Time = i.Time.In(time.FixedZone("", 3600)) }), want: "refuted", text: "UTC"},
		"negative accuracy":          {mistake: stated(func(i *info) { i.Accuracy.Seconds = -1 }), want: "refuted", text: "accuracy"},
		"1,000 milliseconds":         {mistake: stated(func(i *info) { i.Accuracy.Milliseconds = 1000 }), want: "refuted", text: "accuracy"},
		"negative milliseconds":      {mistake: stated(func(i *info) { i.Accuracy.Milliseconds = -1 }), want: "refuted", text: "accuracy"},
		"negative microseconds":      {mistake: stated(func(i *info) { i.Accuracy.Microseconds = -1 }), want: "refuted", text: "accuracy"},
		"1,000 microseconds":         {mistake: stated(func(i *info) { i.Accuracy.Microseconds = 1000 }), want: "refuted", text: "accuracy"},
		"endless accuracy":           {mistake: stated(func(i *info) { i.Accuracy.Seconds = 1 << 40 }), want: "refuted", text: "accuracy"},
		"another element":            {mistake: stated(func(i *info) { i.Extra = asn1.NullRawValue }), want: "refuted", text: "not part of it"},
		"empty revocation lists":     {mistake: signed(func(c *contentInfo) { c.Content.Revocations.FullBytes = []byte{0xa1, 0} }), want: "verified"},
		"primitive revocation lists": {mistake: signed(func(c *contentInfo) { c.Content.Revocations.FullBytes = []byte{0x81, 0} }), want: "refuted", text: "malformed"},
		"critical extension":         {mistake: stated(func(i *info) { i.Extensions = []pkix.Extension{{Id: timeStamping, Critical: true}} }), want: "refuted", text: "critical extension"},
		"no ESS attribute":           {mistake: attrs(func(l []attribute) []attribute { return l[:2] }), want: "refuted", text: "does not name"},
		"ESSCertID only":             {mistake: attrs(func(l []attribute) []attribute { return append(l[:2], v1) }), want: "undecided", text: "SHA-1"},
		"ESSCertID, too":             {mistake: attrs(func(l []attribute) []attribute { return append(l, v1) }), want: "verified"},
		"attribute twice":            {mistake: attrs(func(l []attribute) []attribute { return append(l, l[0]) }), want: "refuted", text: "twice"},
		"another content type":       {mistake: attrs(func(l []attribute) []attribute { l[0] = attributeOf(t, l[0].Type, timeStamping); return l }), want: "refuted", text: "content type"},
		"another digest":             {mistake: attrs(func(l []attribute) []attribute { l[1] = attributeOf(t, l[1].Type, make([]byte, 32)); return l }), want: "refuted", text: "digest"},
		"another certificate hash": {mistake: attrs(func(l []attribute) []attribute {
			l[2] = attributeOf(t, l[2].Type, [][][][]byte{{{make([]byte, 32)}}})
			return l
		}), want: "refuted", text: "CertHash"},
		"certificate hash of SHA-256":  {mistake: attrs(func(l []attribute) []attribute { return named(l, sha256ID) }), want: "verified"},
		"certificate hash of SHA3-256": {mistake: attrs(func(l []attribute) []attribute { return named(l, sha3256) }), want: "undecided", text: "names its certificate by the hash"},
		"certificate hash of SHA-1":    {mistake: attrs(func(l []attribute) []attribute { return named(l, "1.3.14.3.2.26") }), want: "undecided", text: "names its certificate by the hash"},
		"no certificate named": {mistake: attrs(func(l []attribute) []attribute {
			l[2] = attributeOf(t, l[2].Type, [][][][]byte{{}})
			return l
		}), want: "refuted", text: "name of the signer's certificate is malformed"},
		"malformed name of the certificate": {mistake: attrs(func(l []attribute) []attribute {
			l[2] = attributeOf(t, l[2].Type, 7)
			return l
		}), want: "refuted", text: "name of the signer's certificate is malformed"},
		"SHA3-256": {mistake: signed(func(c *contentInfo) {
			c.Content.Digests[0].Algorithm, c.Content.Signers[0].Digest.Algorithm = oid(sha3256), oid(sha3256)
		}), want: "undecided", text: "algorithms " + sha3256},
		"Ed25519":             {mistake: signed(func(c *contentInfo) { c.Content.Signers[0].Algorithm.Algorithm = oid("1.3.101.112") }), want: "undecided", text: "1.3.101.112, which"},
		"ECDSA with SHA3-256": {mistake: signed(func(c *contentInfo) { c.Content.Signers[0].Algorithm.Algorithm = oid("2.16.840.1.101.3.4.3.10") }), want: "undecided", text: "2.16.840.1.101.3.4.3.10, which"},
		"RSA-PSS":             {mistake: signed(func(c *contentInfo) { c.Content.Signers[0].Algorithm.Algorithm = oid("1.2.840.113549.1.1.10") }), want: "undecided", text: "1.2.840.113549.1.1.10, which"},
		"two signers":         {mistake: signed(func(c *contentInfo) { c.Content.Signers = append(c.Content.Signers, c.Content.Signers[0]) }), want: "refuted", text: "2 signers"},
		"no signer":           {mistake: signed(func(c *contentInfo) { c.Content.Signers = nil }), want: "refuted", text: "0 signers"},
		"another signer":      {mistake: signed(func(c *contentInfo) { c.Content.Signers[0].Signer.Serial = big.NewInt(9) }), want: "refuted", text: "not found"},
		"another hash in the list": {mistake: signed(func(c *contentInfo) {
			c.Content.Digests[0].Algorithm = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 2}
		}), want: "refuted", text: "hash algorithms"},
		"no hash in the list":  {mistake: signed(func(c *contentInfo) { c.Content.Digests = nil }), want: "refuted", text: "hash algorithms"},
		"signature parameters": {mistake: signed(func(c *contentInfo) { c.Content.Signers[0].Algorithm.Parameters.FullBytes = []byte{4, 0} }), want: "undecided", text: "parameters"},
		"another signature":    {mistake: signed(func(c *contentInfo) { c.Content.Signers[0].Signature[9] ^= 1 }), want: "refuted", text: "verification"},
		"other content":        {mistake: signed(func(c *contentInfo) { c.Content.Content.Type = timeStamping }), want: "refuted", text: "content type"},
		"not signed data":      {mistake: signed(func(c *contentInfo) { c.Type = timeStamping }), want: "refuted", text: "signed-data"},
		"no certificates":      {mistake: signed(func(c *contentInfo) { c.Content.Certificates = asn1.RawValue{} }), want: "refuted", text: "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t, c.change)
			s, query := request(t, c.policy)
			if err := s.Attach(a.answer(t, query, stamped, c.mistake)); err != nil {
				t.Fatal(err)
			}
			p, err := s.Verify(a.roots, now)
			if got, text := outcome(err); got != c.want || !strings.Contains(text, c.text) {
				t.Fatalf("%s: %s, expected %s: %q", got, text, c.want, c.text)
			}
			if err == nil && (!p.Time.Equal(stamped) && c.mistake.info == nil || p.Authority == "" || p.Before().Before(stamped)) {
				t.Errorf("%+v", p)
			}
		})
	}
}

// TestMissingCode verifies that an undecided timestamp has a reason: its authority is unknown, an
// algorithm is not supported, or there is no token.
func TestMissingCode(t *testing.T) {
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	a := newAuthority(t, nil)
	weak, strong := newAuthorityOf(t, short, nil), newAuthorityOf(t, long, nil)
	s, query := request(t, "")
	unsupported := mistake{signed: func(c *contentInfo) { c.Content.Signers[0].Algorithm.Parameters.FullBytes = []byte{4, 0} }}
	for name, c := range map[string]struct {
		token []byte
		roots *x509.CertPool
		code  receipt.Code
	}{
		"no token":           {nil, a.roots, receipt.CodeTimeSelfAsserted},
		"another root":       {a.token(t, query, stamped, mistake{}), a.others, receipt.CodeUnknownKey},
		"algorithm":          {a.token(t, query, stamped, unsupported), a.roots, receipt.CodeUnsupportedAlgorithm},
		"RSA with 1024 bits": {weak.token(t, query, stamped, mistake{}), weak.roots, receipt.CodeUnsupportedAlgorithm},
		"RSA with 2048 bits": {strong.token(t, query, stamped, mistake{}), strong.roots, ""},
	} {
		s.Token = c.token
		_, err := s.Verify(c.roots, now)
		var missing *MissingError
		if found := errors.As(err, &missing); found != (c.code != "") || found && missing.Code != string(c.code) || !found && err != nil {
			t.Errorf("%s: %v, expected %q", name, err, c.code)
		}
	}
}

// TestIntermediateMissing verifies that a token is undecided if the certificate between its
// authority and the root is missing, or if the root is a different one.
func TestIntermediateMissing(t *testing.T) {
	a := newAuthority(t, nil)
	s, query := request(t, "")
	s.Token = a.token(t, query, stamped, mistake{})
	for _, roots := range []*x509.CertPool{a.others, x509.NewCertPool()} {
		if got, text := outcome2(s.Verify(roots, now)); got != "undecided" {
			t.Errorf("another root: %s: %s", got, text)
		}
	}
	a.chain = a.leaf.Raw
	s.Token = a.token(t, query, stamped, mistake{})
	if got, text := outcome2(s.Verify(a.roots, now)); got != "undecided" {
		t.Errorf("without the intermediate: %s: %s", got, text)
	}
	s.Token = nil
	if got, text := outcome2(s.Verify(a.roots, now)); got != "undecided" {
		t.Errorf("without a token: %s: %s", got, text)
	}
}

func outcome2(_ *Proof, err error) (verdict, text string) { return outcome(err) }

// TestSignerNamedTwice verifies that the token must name the same signer in its signer information
// and in its signed attribute.
func TestSignerNamedTwice(t *testing.T) {
	a := newAuthority(t, nil)
	s, query := request(t, "")
	sum := sha256.Sum256(a.leaf.Raw)
	type issuerSerial struct {
		Names  []asn1.RawValue
		Serial *big.Int
	}
	names := []asn1.RawValue{{Class: asn1.ClassContextSpecific, Tag: 4, IsCompound: true, Bytes: a.leaf.RawIssuer}}
	m := mistake{attrs: func(l []attribute) []attribute {
		l[2] = attributeOf(t, l[2].Type, [][]struct {
			Hash   []byte
			Issuer issuerSerial
		}{{{sum[:], issuerSerial{names, a.leaf.SerialNumber}}}})
		return l
	}}
	s.Token = a.token(t, query, stamped, m)
	if _, err := s.Verify(a.roots, now); err != nil {
		t.Fatal(err)
	}
	m.signed = func(c *contentInfo) { c.Content.Signers[0].Signer.Serial = big.NewInt(9) }
	s.Token = a.token(t, query, stamped, m)
	if got, text := outcome2(s.Verify(a.roots, now)); got != "refuted" || !strings.Contains(text, "another certificate") {
		t.Errorf("%s: %s", got, text)
	}
}

// TestAnotherStamp verifies that a token is refuted if the stamped bytes or the salt differ.
func TestAnotherStamp(t *testing.T) {
	a := newAuthority(t, nil)
	s, query := request(t, "")
	s.Token = a.token(t, query, stamped, mistake{})
	for name, change := range map[string]func(*Stamp){
		"digest": func(s *Stamp) { s.Digest = canon.Sum([]byte("another head")) },
		"salt":   func(s *Stamp) { s.salt[31] ^= 1 },
		"nonce":  func(s *Stamp) { s.nonce[15] ^= 1 },
		"policy": func(s *Stamp) { s.Policy = "1.2.4" },
	} {
		other := *s
		change(&other)
		if got, text := outcome2(other.Verify(a.roots, now)); got != "refuted" {
			t.Errorf("%s: %s: %s", name, got, text)
		}
	}
}

// TestMutants verifies that a token is rejected if a byte is changed, or if the token is truncated,
// extended, or encoded in BER.
func TestMutants(t *testing.T) {
	a := newAuthority(t, nil)
	s, query := request(t, "1.2.3.4")
	token := a.token(t, query, stamped, mistake{})
	verifies := func(token []byte) bool {
		s.Token = token
		_, err := s.Verify(a.roots, now)
		if got, text := outcome(err); got == "no outcome" {
			t.Errorf("%x: %s", token, text)
		}
		return err == nil
	}
	if !verifies(token) {
		t.Fatal("the token does not verify")
	}

	n := testsize.Of(1000, 10_000)
	random := mathrand.New(mathrand.NewPCG(3161, 0))
	for i := range n {
		mutant := slices.Clone(token)
		at := i % len(token)
		mutant[at] ^= byte(1 + random.IntN(255))
		if verifies(mutant) {
			t.Errorf("byte %d changed from %02x to %02x", at, token[at], mutant[at])
		}
	}
	for i := range token {
		if verifies(token[:i:i]) {
			t.Errorf("cut after %d bytes", i)
		}
	}
	if verifies(append(slices.Clone(token), 0)) {
		t.Error("a byte was added")
	}

	// The certificates are not signed.
	primitive := bytes.Clone(token)
	primitive[bytes.Index(token, a.chain)-4] ^= 0x20 // their tag, followed by a length of three bytes
	if verifies(primitive) {
		t.Error("the certificates are primitive")
	}

	// BER allows this indefinite length (X.690, section 8.1.3.6).
	var outer asn1.RawValue
	if _, err := asn1.Unmarshal(token, &outer); err != nil {
		t.Fatal(err)
	}
	if verifies(append(append([]byte{0x30, 0x80}, outer.Bytes...), 0, 0)) {
		t.Error("indefinite length")
	}

	// Parsers do not read this element at the end of the outermost sequence.
	if verifies(marshal(t, asn1.RawValue{Tag: asn1.TagSequence, IsCompound: true, Bytes: append(slices.Clone(outer.Bytes), 5, 0)})) {
		t.Error("an element was added")
	}
}

// TestExact verifies that the signed content of a token has only the elements of TSTInfo.
func TestExact(t *testing.T) {
	element := func(tag byte, content string) string { return string([]byte{tag, byte(len(content))}) + content }
	sequence := func(list ...string) string { return element(0x30, strings.Join(list, "")) }
	stated := []string{"\x02\x01\x01", "\x06\x02\x2a\x03", "\x30\x00", "\x02\x01\x07", element(0x18, "20260501000000Z")}
	with := func(list ...string) string { return sequence(append(slices.Clone(stated), list...)...) }
	accuracy := func(list ...string) string { return with(sequence(list...)) }
	const ordering, nonce, name, extensions = "\x01\x01\xff", "\x02\x01\x09", "\xa0\x00", "\xa1\x00"

	for _, content := range []string{with(), with(nonce), with(ordering, nonce), with(name, extensions), with(sequence(), ordering, nonce, name, extensions),
		accuracy("\x02\x01\x01"), accuracy("\x02\x01\x00"), accuracy("\x80\x01\x01"), accuracy("\x02\x01\x01", "\x80\x01\x01", "\x81\x01\x01")} {
		if err := exact([]byte(content)); err != nil {
			t.Errorf("%x: %v", content, err)
		}
	}
	utc := sequence(append(slices.Clone(stated[:4]), element(0x17, "260501000000Z"))...)
	for _, content := range []string{"", "junk", sequence(), sequence(stated[:4]...), utc, with() + "\x00", with("\x05\x00"), with(nonce, nonce), with(nonce, ordering),
		with(name, nonce), with(extensions, extensions), with(ordering, "\x02\x81\x01\x09"), "\x30\x80" + with()[2:] + "\x00\x00",
		accuracy("\x80\x01\x01", "\x02\x01\x01"), accuracy("\x02\x01\x01", "\x05\x00"), accuracy("\x02\x01\x01", "\x82\x01\x01"),
		accuracy("\x02"), accuracy("\x02\x02\x01"), accuracy("\x02\x81\x01\x01")} {
		if err := exact([]byte(content)); err == nil {
			t.Errorf("%x was accepted", content)
		}
	}
}

// TestAttach verifies that a response is accepted only if it grants the request.
func TestAttach(t *testing.T) {
	a := newAuthority(t, nil)
	s, query := request(t, "")
	answer := a.answer(t, query, stamped, mistake{})
	for name, bad := range map[string][]byte{
		"rejection":     {0x30, 9, 0x30, 7, 2, 1, 2, 3, 2, 7, 0x80},
		"no token":      {0x30, 5, 0x30, 3, 2, 1, 0},
		"nothing":       {},
		"a byte added":  append(slices.Clone(answer), 0),
		"truncated":     answer[:len(answer)-1],
		"modifications": bytes.Replace(answer, []byte{0x30, 3, 2, 1, 0}, []byte{0x30, 3, 2, 1, 1}, 1),
	} {
		if err := s.Attach(bad); err == nil || s.Token != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Attach(answer); err != nil {
		t.Error(err)
	}

	// PKIFreeText is a sequence of UTF8String values (RFC 4210, section 5.1.1).
	text := []asn1.RawValue{{Tag: asn1.TagUTF8String, Bytes: []byte("Operation Okay")}}
	worded := marshal(t, struct {
		Status struct {
			Status int
			Text   []asn1.RawValue
		}
		Token asn1.RawValue
	}{struct {
		Status int
		Text   []asn1.RawValue
	}{0, text}, asn1.RawValue{FullBytes: a.token(t, query, stamped, mistake{})}})
	if err := s.Attach(worded); err != nil {
		t.Error("with a text:", err)
	}
}

// TestNotAuthentic verifies that a token from an unknown authority or with an unsupported algorithm
// refutes nothing.
func TestNotAuthentic(t *testing.T) {
	a := newAuthority(t, nil)
	critical := newAuthority(t, func(c *x509.Certificate) {
		c.ExtraExtensions = append(c.ExtraExtensions, pkix.Extension{Id: asn1.ObjectIdentifier{1, 2, 3, 4}, Critical: true, Value: []byte{5, 0}})
	})
	s, query := request(t, "")
	for name, token := range map[string][]byte{
		"before its certificate": a.token(t, query, began.AddDate(0, -1, 0), mistake{}),
		"critical extension":     critical.token(t, query, stamped, mistake{}),
		"Ed25519": a.token(t, query, stamped, mistake{signed: func(c *contentInfo) {
			c.Content.Signers[0].Algorithm.Algorithm = asn1.ObjectIdentifier{1, 3, 101, 112}
		}}),
	} {
		s.Token = token
		if _, err := s.Verify(a.others, stamped.AddDate(0, 1, 0)); !errors.As(err, new(*MissingError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAccuracy verifies that a token proves a time that is later by its accuracy. Without an
// accuracy, this time is one second later, because token times are written in whole seconds.
func TestAccuracy(t *testing.T) {
	a := newAuthority(t, nil)
	s, query := request(t, "")
	for stated, want := range map[tspclient.Accuracy]time.Duration{
		{}:                                 time.Second,
		{Microseconds: 1}:                  time.Microsecond,
		{Milliseconds: 2, Microseconds: 3}: 2003 * time.Microsecond,
		{Seconds: 4, Microseconds: 5}:      4*time.Second + 5*time.Microsecond,
	} {
		s.Token = a.token(t, query, stamped, mistake{info: func(i *info) { i.Accuracy = stated }})
		p, err := s.Verify(a.roots, stamped.AddDate(0, 1, 0))
		if err != nil {
			t.Fatal(err)
		}
		before := stamped.Truncate(time.Second).Add(want + time.Millisecond - 1).Truncate(time.Millisecond)
		if p.Accuracy != want || !p.Before().Equal(before) {
			t.Errorf("%+v: %v, %v, expected %v, %v", stated, p.Accuracy, p.Before(), want, before)
		}
	}
}

// TestParse verifies that the JSON form of a timestamp has exactly one meaning.
func TestParse(t *testing.T) {
	for _, token := range [][]byte{nil, []byte("token")} {
		s, _ := request(t, "1.2.3")
		s.Token = token
		text, err := s.JSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(text)
		if err != nil || again.salt != s.salt || again.nonce != s.nonce || again.Digest != s.Digest || again.Policy != s.Policy || !bytes.Equal(again.Token, token) {
			t.Errorf("%+v, %v", again, err)
		}
		for old, bad := range map[string]string{
			`"checkpoint"`: `"head"`, schema: "timestamp-2027", `"salt":"5a`: `"salt":"`, `"nonce":"5a`: `"nonce":"5A`, `"kind"`: `"Kind"`, `sha256:`: `sha512:`,
			`"1.2.3"`: `"1.2.03"`, `{`: `{"more":1,`, `"policy"`: `"policy":"1.2.3","policy"`,
		} {
			if s, err := Parse([]byte(strings.Replace(string(text), old, bad, 1))); err == nil {
				t.Errorf("%s: %+v", bad, s)
			}
		}
	}
	for _, policy := range []string{"x", "1", "1.2.", "1.-2", "9.1", "1.02"} {
		if _, err := New(bytes.NewReader(make([]byte, 48)), Receipt, canon.Digest{1}, policy); err == nil {
			t.Errorf("policy %q", policy)
		}
	}
	if _, err := New(bytes.NewReader(make([]byte, 47)), Receipt, canon.Digest{1}, ""); err == nil {
		t.Error("without enough randomness")
	}
}

// TestParseRoots verifies that a certificate that does not belong to a certificate authority is
// rejected as a root.
func TestParseRoots(t *testing.T) {
	a := newAuthority(t, nil)
	block := func(der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}) }
	middle := a.chain[len(a.leaf.Raw):]
	if _, err := ParseRoots(block(middle)); err != nil {
		t.Error(err)
	}
	for name, data := range map[string][]byte{"leaf": block(a.leaf.Raw), "both": append(block(middle), block(a.leaf.Raw)...), "nothing": nil, "text": []byte("text"), "damage": block(middle[1:]),
		"truncated": append(block(middle), block(middle)[:40]...)} {
		if _, err := ParseRoots(data); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestVectors verifies the outcomes for published responses.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(vectors.Dir(t, "transparency"), "made", "timestamps.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name, Response, Roots, Want string
		Data                        string `json:"data_hex"`
		Nonce                       string `json:"nonce_hex"`
		Policies                    []string
		Now                         time.Time
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 16 {
		t.Fatalf("%d cases, expected 16", len(cases))
	}
	for _, c := range cases {
		message, err1 := hex.DecodeString(c.Data)
		answer, err2 := base64.StdEncoding.DecodeString(c.Response)
		policy, err3 := parseID(c.Policies[0])
		nonce, ok := new(big.Int).SetString(c.Nonce, 16)
		roots, err4 := ParseRoots([]byte(c.Roots))
		if err := errors.Join(err1, err2, err3, err4); err != nil || !ok {
			t.Fatal(err)
		}
		s := new(Stamp)
		err := s.Attach(answer)
		if err == nil {
			_, err = verify(s.Token, terms{message, nonce, policy}, roots, c.Now)
		}
		if got, text := outcome(err); got != c.Want {
			t.Errorf("%s: %s: %s; expected %s", c.Name, got, text, c.Want)
		}
	}
}

// kept returns a stored stamp with a token and the stored root for it.
func kept(tb testing.TB) (*Stamp, *x509.CertPool) {
	tb.Helper()
	text, err1 := os.ReadFile("testdata/receipt.timestamp")
	root, err2 := os.ReadFile("testdata/roots.pem")
	s, err3 := Parse(text)
	roots, err4 := ParseRoots(root)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		tb.Fatal(err)
	}
	return s, roots
}

// TestKept verifies that a token that was valid when it was stored remains valid.
func TestKept(t *testing.T) {
	s, roots := kept(t)
	if p, err := s.Verify(roots, now); err != nil || !p.Time.Equal(stamped) || p.Authority != "TSA" {
		t.Errorf("%+v, %v", p, err)
	}
}

// FuzzVerify verifies that no token causes a panic, and that only the original token is accepted.
func FuzzVerify(f *testing.F) {
	s, roots := kept(f)
	f.Add(s.Token)
	f.Add(s.Token[:200])
	answer, err := os.ReadFile("testdata/answer.tsr")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(answer)
	f.Fuzz(func(t *testing.T, data []byte) {
		other := *s
		err := other.Attach(data)
		for _, token := range [][]byte{other.Token, data} {
			other.Token = token
			p, invalid := other.Verify(roots, now)
			if same := bytes.Equal(token, s.Token); same != (invalid == nil) || (p == nil) != (invalid != nil) {
				t.Errorf("%x: %+v, %v, %v", token, p, invalid, err)
			}
		}
		if again, err := Parse(data); err == nil {
			if text, err := again.JSON(); err != nil || len(text) == 0 {
				t.Error(err)
			}
		}
	})
}
