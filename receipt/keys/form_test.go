package keys

import (
	"errors"
	"testing"
)

// TestForm verifies that the error for a file that is not a key set states the file's format.
func TestForm(t *testing.T) {
	for text, want := range map[string]string{
		"-----BEGIN PUBLIC KEY-----\n":                "PEM",
		"\n-----BEGIN EC PRIVATE KEY-----\nsecret":    "PEM private key",
		"ssh-ed25519 AAAA me":                         "OpenSSH",
		`{"kty":"OKP","crv":"Ed25519","x":"AA"}`:      "JWK",
		`{"kty":"OKP","crv":"Ed25519","d":"AA"}`:      "private JWK",
		`{"keys":[{"kty":"oct","kid":"k","k":"AA"}]}`: "private JWK",
		`{"receipt_id":"r"}`:                          "",
		`{"keys":[]}`:                                 "",
	} {
		_, err := ParseSet([]byte(text))
		var bad *SetError
		if !errors.As(err, &bad) || bad.Form != want {
			t.Errorf("%s: %v, a file of the form %q; want %q", text, err, bad.Form, want)
		}
	}
}
