package keys

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	stdx509 "crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"

	"filippo.io/mldsa/x509"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
)

func pemText(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func spki(t *testing.T, pub any) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return pemText("PUBLIC KEY", der)
}

func pkcs8(t *testing.T, key any) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pemText("PRIVATE KEY", der)
}

func TestPEM(t *testing.T) {
	for _, name := range Algorithms() {
		k := testKeys()[name]
		public, err := ParsePublicPEM([]byte(spki(t, k.Public().Crypto())), "", name)
		if err != nil || public.ID != k.public.ID || public.Thumbprint != k.Public().Thumbprint {
			t.Errorf("%s: %v", name, err)
		}
		private, err := ParsePrivatePEM([]byte("\r\n"+strings.ReplaceAll(pkcs8(t, k.key), "\n", "\r\n")), "", name)
		if err != nil || private.public.ID != k.public.ID || private.algorithm != name {
			t.Fatalf("%s: %v", name, err)
		}
		wantCode(t, setOf(t, public), hashText, entryOf(signWith(t, private)), valid)
	}
	pub := testKeys()[rs256].Public().Crypto().(*rsa.PublicKey)
	if k, err := ParsePublicPEM([]byte(pemText("RSA PUBLIC KEY", stdx509.MarshalPKCS1PublicKey(pub))), "k", rs256); err != nil || k.ID != "k" {
		t.Error(err)
	}
}

// TestPEMRefused verifies that invalid PEM files are rejected (reliability #129, #295).
func TestPEMRefused(t *testing.T) {
	ed, es, rs := testKeys()[Ed25519], testKeys()[es256], testKeys()[rs256]
	good, secret := spki(t, ed.Public().Crypto()), pkcs8(t, ed.key)
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	p224, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	x25519, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sec1, err := stdx509.MarshalECPrivateKey(es.key.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	long := new(big.Int).Lsh(big.NewInt(1), 80_000)
	long.Sub(long, big.NewInt(1))
	pkcs1, err := asn1.Marshal(struct {
		Version             int
		N                   *big.Int
		E                   int
		D, P, Q, Dp, Dq, Qi *big.Int
	}{0, modulus(2048), 65537, big.NewInt(5), long, long, big.NewInt(1), big.NewInt(1), big.NewInt(1)})
	if err != nil {
		t.Fatal(err)
	}
	hostile, err := asn1.Marshal(struct {
		Version   int
		Algorithm pkix.AlgorithmIdentifier
		Key       []byte
	}{0, pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}, Parameters: asn1.NullRawValue}, pkcs1})
	if err != nil {
		t.Fatal(err)
	}
	encrypted := "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n"
	for _, tc := range []struct{ name, data, publicPart, privatePart string }{
		{"empty", "", "begins with", "begins with"},
		{"leading text", "Bag Attributes\n" + good, "without text before", "without text before"},
		{"two blocks", good + good, "something follows", "something follows"},
		{"trailing text", good + "x", "something follows", "something follows"},
		{"damaged", good[:40], "damaged", "damaged"},
		{"no base64", "-----BEGIN PUBLIC KEY-----\n!!!!\n-----END PUBLIC KEY-----\n", "damaged", "damaged"},
		{"no DER", pemText("PUBLIC KEY", []byte("x")), "no public key", "public key"},
		{"no DER, private", pemText("PRIVATE KEY", []byte("x")), "private key", "no private key"},
		{"private", secret, "holds a private key", ""},
		{"public", good, "", "holds a public key"},
		{"SEC 1", pemText("EC PRIVATE KEY", sec1), "holds a private key", "pkcs8"},
		{"PKCS #1", pemText("RSA PRIVATE KEY", stdx509.MarshalPKCS1PrivateKey(rs.key.(*rsa.PrivateKey))), "holds a private key", "pkcs8"},
		{"encrypted", encrypted, "holds a private key", "decrypt it"},
		{"encrypted PKCS #8", pemText("ENCRYPTED PRIVATE KEY", []byte("x")), "holds a private key", "decrypt it"},
		{"OpenSSH", pemText("OPENSSH PRIVATE KEY", []byte("x")), "holds a private key", `"OPENSSH PRIVATE KEY"`},
		{"certificate", pemText("CERTIFICATE", []byte("x")), "certificate", `"CERTIFICATE"`},
		{"parameters", pemText("DH PARAMETERS", []byte("x")), `"DH PARAMETERS"`, `"DH PARAMETERS"`},
		{"weak RSA", spki(t, &small.PublicKey), "1024 bits", "public key"},
		{"weak RSA, private", pkcs8(t, small), "private key", "1024 bits"},
		{"RSA primes of 80,000 bits", pemText("PRIVATE KEY", hostile), "private key", "not one key"},
		{"P-224", spki(t, &p224.PublicKey), "P-224", "public key"},
		{"X25519", spki(t, x25519.PublicKey()), "type *ecdh.PublicKey", "public key"},
		{"X25519, private", pkcs8(t, x25519), "private key", "no private key"},
	} {
		_, err := ParsePublicPEM([]byte(tc.data), "k", rs256)
		if tc.publicPart != "" && (err == nil || !strings.Contains(err.Error(), tc.publicPart)) {
			t.Errorf("%s as public: %v", tc.name, err)
		}
		if err != nil && (len(err.Error()) > 300 || strings.Contains(err.Error(), secret[30:60])) {
			t.Errorf("%s: %v", tc.name, err)
		}
		_, err = ParsePrivatePEM([]byte(tc.data), "k", rs256)
		if tc.privatePart != "" && (err == nil || !strings.Contains(err.Error(), tc.privatePart)) {
			t.Errorf("%s as private: %v", tc.name, err)
		}
	}

	// Parsing a file like this one used to take quadratic time. The end of a long file is not
	// examined.
	slow := make([]byte, 100<<20)
	begins := slow[:2*maxPEMBytes]
	if testsize.Full() {
		begins = slow
	}
	for rest := begins; len(rest) > 0; {
		rest = rest[copy(rest, "-----BEGIN \n"):]
	}
	for _, size := range []int{maxPEMBytes + 1, len(begins), len(slow)} {
		_, err := ParsePublicPEM(slow[:size], "", "")
		wantRefused(t, err, receipt.CodeInvalidKeySet, "at most 65536")
	}
	_, err = ParsePublicPEM(slow[:maxPEMBytes], "", "")
	wantRefused(t, err, receipt.CodeInvalidKeySet, "damaged")
}
