package keys

import (
	"bytes"
	"crypto"
	stdx509 "crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"strings"

	"filippo.io/mldsa"
	"filippo.io/mldsa/x509"
)

// maxPEMBytes is the maximum length of a PEM file. It is checked before parsing, because parsing
// can take quadratic time.
const maxPEMBytes = 64 << 10

// ParsePublicPEM parses a PEM file (RFC 7468) that contains exactly one public key, as
// SubjectPublicKeyInfo ("PUBLIC KEY") or in PKCS #1 ("RSA PUBLIC KEY"). id and algorithm have the
// same meaning as for [FromPublic]. The error is a *[SetError].
func ParsePublicPEM(data []byte, id, algorithm string) (*PublicKey, error) {
	block, err := onePEM(data)
	if err != nil {
		return nil, err
	}

	var pub crypto.PublicKey
	var bad error
	switch {
	case block.Type == "PUBLIC KEY":
		pub, bad = x509.ParsePKIXPublicKey(block.Bytes)
	case block.Type == "RSA PUBLIC KEY":
		pub, bad = stdx509.ParsePKCS1PublicKey(block.Bytes)
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		return nil, invalid("", "this file holds a private key; make its public half with: openssl pkey -in FILE -pubout")
	case block.Type == "CERTIFICATE":
		return nil, invalid("", "this file holds a certificate, and receipts trust keys, not certificates; take its key with: openssl x509 -in FILE -pubkey -noout")
	default:
		return nil, invalid("", "this PEM file holds a %s, expected a PUBLIC KEY", quote(block.Type))
	}

	if bad != nil {
		return nil, invalid("", "the PEM file holds no public key that can be read")
	}
	return FromPublic(pub, id, algorithm)
}

// ParsePrivatePEM parses a PEM file that contains exactly one private key, in unencrypted PKCS #8
// ("PRIVATE KEY"). id and algorithm have the same meaning as for [FromPublic]. The error is a
// *[SetError] and never contains key material.
func ParsePrivatePEM(data []byte, id, algorithm string) (*PrivateKey, error) {
	block, err := onePEM(data)
	if err != nil {
		return nil, err
	}

	switch {
	case block.Type == "PRIVATE KEY":
	case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
		return nil, invalid("", "the private key is encrypted; decrypt it with: openssl pkcs8 -topk8 -nocrypt -in FILE")
	case block.Type == "EC PRIVATE KEY", block.Type == "RSA PRIVATE KEY":
		return nil, invalid("", "the private key is not in PKCS #8 form; convert it with: openssl pkcs8 -topk8 -nocrypt -in FILE")
	case strings.HasSuffix(block.Type, "PUBLIC KEY"):
		return nil, invalid("", "this file holds a public key; signing needs the private one")
	default:
		return nil, invalid("", "this PEM file holds a %s, expected a PRIVATE KEY", quote(block.Type))
	}

	// Check this before crypto/x509 computes with an RSA key; see checkPrimes.
	if err := checkPKCS8(block.Bytes); err != nil {
		return nil, err
	}
	key, bad := x509.ParsePKCS8PrivateKey(block.Bytes)
	signer, ok := key.(crypto.Signer)
	if bad != nil || !ok {
		return nil, invalid("", "the PEM file holds no private key that can be read")
	}

	return newPrivate(signer, id, algorithm)
}

// checkPKCS8 calls checkPrimes for an RSA key, and checks that an ML-DSA key is stored as a seed.
// It returns nil for data that it cannot parse. crypto/x509 accepts more variants and reports an
// error if the data is invalid.
func checkPKCS8(der []byte) *SetError {
	var outer struct { // structure in RFC 5208 section 5
		Version   int
		Algorithm pkix.AlgorithmIdentifier
		Key       []byte
	}
	var inner struct { // structure in RFC 8017 appendix A.1.2
		Version int
		N       *big.Int
		E       int
		D, P, Q *big.Int
	}

	if _, err := asn1.Unmarshal(der, &outer); err != nil {
		return nil
	}
	// An ML-DSA key is stored as the seed [0], the expanded key, or both (RFC 9881 section 6). A
	// JWK can contain only the seed.
	switch outer.Algorithm.Algorithm.String() {
	case "2.16.840.1.101.3.4.3.17", "2.16.840.1.101.3.4.3.18":
		if len(outer.Key) == 2+mldsa.PrivateKeySize {
			return nil
		}
		return invalid("", "the ML-DSA private key is not only its seed; convert it with: openssl pkey -in FILE -provparam ml-dsa.output_formats=seed-only")
	}
	if _, err := asn1.Unmarshal(outer.Key, &inner); err != nil {
		return nil
	}

	return checkPrimes(inner.N, inner.D, inner.P, inner.Q)
}

// onePEM rejects data before and after the block, so that nothing is silently ignored.
func onePEM(data []byte) (*pem.Block, error) {
	if len(data) > maxPEMBytes {
		return nil, invalid("", "the PEM file has %d bytes, at most %d are read", len(data), maxPEMBytes)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("-----BEGIN ")) {
		return nil, invalid("", "expected a PEM file that begins with -----BEGIN, without text before it")
	}

	block, rest := pem.Decode(bytes.TrimSpace(data))
	switch {
	case block == nil:
		return nil, invalid("", "the PEM block is damaged")
	case len(bytes.TrimSpace(rest)) > 0:
		return nil, invalid("", "something follows the PEM block; give one key at a time")
	}
	return block, nil
}
