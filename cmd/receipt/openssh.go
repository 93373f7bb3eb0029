package main

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"

	"github.com/receiptkit/receiptkit/receipt/keys"
)

// isOpenSSH reports whether text is a line of an authorized_keys file: the type
// of the key, its base64 and a comment.
func isOpenSSH(text []byte) bool {
	for _, kind := range []string{"ssh-", "ecdsa-sha2-", "sk-"} {
		if bytes.HasPrefix(text, []byte(kind)) {
			return true
		}
	}
	return false
}

// parseOpenSSH reads one OpenSSH public key.
func parseOpenSSH(text []byte, id, algorithm string) (*keys.PublicKey, error) {
	parsed, _, _, rest, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		return nil, fmt.Errorf("not an OpenSSH public key: %w", err)
	}
	if len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("expected one OpenSSH public key, found more lines")
	}
	crypto, ok := parsed.(ssh.CryptoPublicKey)
	if !ok {
		return nil, fmt.Errorf("keys of the type %q cannot sign receipts", parsed.Type())
	}
	return keys.FromPublic(crypto.CryptoPublicKey(), id, algorithm)
}
