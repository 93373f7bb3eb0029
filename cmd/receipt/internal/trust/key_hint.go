package trust

import (
	"errors"

	"github.com/receiptkit/receiptkit/receipt/keys"
)

// KeyHint returns how to create a key file from a file of another form.
func KeyHint(err error) string {
	var bad *keys.SetError
	if !errors.As(err, &bad) {
		return ""
	}
	switch bad.Form {
	case "PEM", "OpenSSH", "JWK":
		return "receipt keys import FILE --issuer ID adds its key to a trust file"
	case "PEM private key":
		return "receipt keys import PUBLIC_PEM --issuer ID adds the public half to a trust file"
	case "private JWK":
		return "receipt keys generate wrote the public half to its --keys file"
	}
	return ""
}
