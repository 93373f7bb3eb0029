package custody

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"hash"

	"golang.org/x/crypto/scrypt"
)

// pkcs8Type is the PEM type of an encrypted private key (RFC 7468 section 11).
const pkcs8Type = "ENCRYPTED PRIVATE KEY"

// Limits on the work that a file can require: some seconds, and 1 GiB of memory.
const (
	maxIterations = 10_000_000
	maxScryptN    = 1 << 20
	maxScryptR    = 8
	maxScryptP    = 16
)

// errPassphrase indicates a wrong passphrase or a damaged file. With PKCS #8, these two cases
// cannot be distinguished.
var errPassphrase = errors.New("the passphrase is incorrect, or the file is damaged")

// An encryptedKey is an EncryptedPrivateKeyInfo (RFC 5958 section 3).
type encryptedKey struct {
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte
}

// Parameters of PBES2 (RFC 8018 appendix A).
type (
	pbes2 struct{ Derivation, Scheme pkix.AlgorithmIdentifier }

	pbkdf2Params struct {
		Salt       []byte
		Iterations int
		KeyLength  int                      `asn1:"optional"`
		PRF        pkix.AlgorithmIdentifier `asn1:"optional"`
	}

	scryptParams struct { // RFC 7914 section 7
		Salt      []byte
		N, R, P   int
		KeyLength int `asn1:"optional"`
	}
)

// readEncrypted parses the parts that can be read without a passphrase.
func readEncrypted(der []byte) (*encryptedKey, *pbes2, error) {
	k, p := new(encryptedKey), new(pbes2)
	if rest, err := asn1.Unmarshal(der, k); err != nil || len(rest) > 0 {
		return nil, nil, errors.New("it is not encrypted PKCS #8")
	}
	if oid := k.Algorithm.Algorithm; oid.String() != "1.2.840.113549.1.5.13" {
		return nil, nil, fmt.Errorf("it is encrypted by %s, expected PBES2", oid)
	}
	if rest, err := asn1.Unmarshal(k.Algorithm.Parameters.FullBytes, p); err != nil || len(rest) > 0 {
		return nil, nil, errors.New("its parameters of PBES2 are malformed")
	}
	return k, p, nil
}

// open decrypts the key and returns it as unencrypted PEM.
func (k *encryptedKey) open(p *pbes2, passphrase string) ([]byte, error) {
	size, iv, err := p.cipher()
	if err != nil {
		return nil, err
	}
	key, err := p.derive(passphrase, size)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	if len(k.Data) == 0 || len(k.Data)%aes.BlockSize > 0 {
		return nil, errors.New("it is damaged")
	}

	// PBES2 has no authentication, so only the padding and the structure of the result reveal a
	// wrong passphrase.
	text := make([]byte, len(k.Data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(text, k.Data)
	text, ok := unpad(text)
	if !ok {
		return nil, errPassphrase
	}

	// Only the type of the result is checked here. Package keys checks the content of the private
	// key.
	var plain struct { // RFC 5208 section 5
		Version   int
		Algorithm pkix.AlgorithmIdentifier
		Key       []byte
	}
	if _, err := asn1.Unmarshal(text, &plain); err != nil {
		return nil, errPassphrase
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}), nil
}

// cipher returns the length of the key, in bytes, and the initialization vector of AES-CBC (RFC
// 8018 appendix B.2.5).
func (p *pbes2) cipher() (size int, iv []byte, err error) {
	switch oid := p.Scheme.Algorithm.String(); oid {
	case "2.16.840.1.101.3.4.1.2":
		size = 16
	case "2.16.840.1.101.3.4.1.22":
		size = 24
	case "2.16.840.1.101.3.4.1.42":
		size = 32
	default:
		return 0, nil, fmt.Errorf("its cipher is %s, expected AES-CBC", oid)
	}
	if _, err := asn1.Unmarshal(p.Scheme.Parameters.FullBytes, &iv); err != nil || len(iv) != aes.BlockSize {
		return 0, nil, errors.New("its initialization vector is malformed")
	}
	return size, iv, nil
}

// derive derives a key from a passphrase.
func (p *pbes2) derive(passphrase string, size int) ([]byte, error) {
	switch oid := p.Derivation.Algorithm.String(); oid {
	case "1.2.840.113549.1.5.12":
		var q pbkdf2Params
		if _, err := asn1.Unmarshal(p.Derivation.Parameters.FullBytes, &q); err != nil || q.KeyLength != 0 && q.KeyLength != size {
			return nil, errors.New("its parameters of PBKDF2 are malformed")
		}
		if q.Iterations < 1 || q.Iterations > maxIterations {
			return nil, fmt.Errorf("it requires %d iterations of PBKDF2, expected 1 to %d", q.Iterations, maxIterations)
		}
		prf, err := prfOf(q.PRF.Algorithm)
		if err != nil {
			return nil, err
		}
		return pbkdf2.Key(prf, passphrase, q.Salt, q.Iterations, size)

	case "1.3.6.1.4.1.11591.4.11":
		var q scryptParams
		if _, err := asn1.Unmarshal(p.Derivation.Parameters.FullBytes, &q); err != nil || q.KeyLength != 0 && q.KeyLength != size {
			return nil, errors.New("its parameters of scrypt are malformed")
		}
		if q.N < 2 || q.N > maxScryptN || q.R < 1 || q.R > maxScryptR || q.P < 1 || q.P > maxScryptP {
			return nil, fmt.Errorf("it requires scrypt with N=%d r=%d p=%d, expected at most %d, %d and %d", q.N, q.R, q.P, maxScryptN, maxScryptR, maxScryptP)
		}
		return scrypt.Key([]byte(passphrase), q.Salt, q.N, q.R, q.P, size)

	default:
		return nil, fmt.Errorf("its key is derived by %s, expected PBKDF2 or scrypt", oid)
	}
}

// prfOf returns the hash function of an HMAC (RFC 8018 appendix B.1). The default is SHA-1.
func prfOf(oid asn1.ObjectIdentifier) (func() hash.Hash, error) {
	switch name := oid.String(); name {
	case "", "1.2.840.113549.2.7":
		return sha1.New, nil
	case "1.2.840.113549.2.9":
		return sha256.New, nil
	case "1.2.840.113549.2.10":
		return sha512.New384, nil
	case "1.2.840.113549.2.11":
		return sha512.New, nil
	default:
		return nil, fmt.Errorf("its PBKDF2 uses %s, expected an HMAC of SHA-1 or SHA-2", name)
	}
}

// unpad removes the padding (RFC 8018 section 6.1.1, step 4).
func unpad(text []byte) ([]byte, bool) {
	n := int(text[len(text)-1])
	if n == 0 || n > aes.BlockSize {
		return nil, false
	}
	for _, b := range text[len(text)-n:] {
		if int(b) != n {
			return nil, false
		}
	}
	return text[:len(text)-n], true
}
