package custody

import (
	"bytes"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/keys"
)

// encryptedFile returns the content of a PEM file in testdata. The files were created from
// plain.pem by "openssl pkcs8 -topk8".
func encryptedFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	block, rest := pem.Decode(text)
	if block == nil || len(rest) > 0 {
		t.Fatalf("%s is no PEM", name)
	}
	return block.Bytes
}

func TestPKCS8(t *testing.T) {
	plain := encryptedFile(t, "plain.pem")
	for _, name := range []string{"aes256-sha256.pem", "aes128-sha1.pem", "aes192-sha512.pem", "aes256-sha384.pem", "scrypt.pem"} {
		key, params, err := readEncrypted(encryptedFile(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, err := key.open(params, "correct horse")
		block, _ := pem.Decode(text)
		if err != nil || block == nil || !bytes.Equal(block.Bytes, plain) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := keys.ParsePrivatePEM(text, "k", ""); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, wrong := range []string{"", "correct horse ", "Correct horse"} {
			if text, err := key.open(params, wrong); !errors.Is(err, errPassphrase) || text != nil {
				t.Errorf("%s: %q opens %q, %v", name, wrong, text, err)
			}
		}
	}
}

// TestPKCS8Refuses verifies that unsupported files, and parameters that exceed the limits, are
// rejected, and that the error states the reason.
func TestPKCS8Refuses(t *testing.T) {
	for name, want := range map[string]string{
		"plain.pem": "it is not encrypted PKCS #8",
		"pbes1.pem": "it is encrypted by 1.2.840.113549.1.12.1.3, expected PBES2",
		"des3.pem":  "its cipher is 1.2.840.113549.3.7, expected AES-CBC",
	} {
		key, params, err := readEncrypted(encryptedFile(t, name))
		if err == nil {
			_, err = key.open(params, "correct horse")
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}

	// This file requires more work than the limit allows.
	for _, n := range []int{-1, 0, maxIterations + 1} {
		key, params, err := readEncrypted(encryptedFile(t, "aes192-sha512.pem"))
		if err != nil {
			t.Fatal(err)
		}
		if params.Derivation.Parameters.FullBytes, err = asn1.Marshal(pbkdf2Params{Salt: []byte("12345678"), Iterations: n}); err != nil {
			t.Fatal(err)
		}
		if _, err := key.open(params, "correct horse"); err == nil || err.Error() != fmt.Sprintf("it requires %d iterations of PBKDF2, expected 1 to 10000000", n) {
			t.Error(err)
		}
	}
	der := encryptedFile(t, "scrypt.pem")
	heavy := bytes.Replace(der, []byte{2, 2, 0x40, 0, 2, 1, 8}, []byte{2, 2, 0x40, 0, 2, 1, 127}, 1)
	if key, params, err := readEncrypted(heavy); err != nil || bytes.Equal(heavy, der) {
		t.Error(err)
	} else if _, err := key.open(params, "correct horse"); err == nil || !strings.HasPrefix(err.Error(), "it requires scrypt with N=16384 r=127 p=1, expected at most ") {
		t.Error(err)
	}
}

// TestPKCS8Damage verifies that opening a file that is truncated or has a changed byte returns
// either an error or a key, but never both or neither.
func TestPKCS8Damage(t *testing.T) {
	der := encryptedFile(t, "aes128-sha1.pem")
	for i := range der {
		for _, bad := range [][]byte{der[:i], append(append(bytes.Clone(der[:i]), der[i]^0x40), der[i+1:]...)} {
			key, params, err := readEncrypted(bad)
			if err != nil {
				continue
			}
			if text, err := key.open(params, "correct horse"); (err == nil) != (text != nil) {
				t.Errorf("byte %d: %q, %v", i, text, err)
			}
		}
	}
}
