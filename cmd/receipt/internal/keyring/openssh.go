package keyring

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/receiptkit/receiptkit/receipt/keys"
)

// maxOpenSSH is the size of the largest file of OpenSSH lines that is read.
const maxOpenSSH = 1 << 20

// isOpenSSH reports whether a file looks like OpenSSH public key lines, which
// may begin with comments.
func isOpenSSH(data []byte) bool {
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		kind, _, _ := strings.Cut(string(line[:min(len(line), 64)]), " ")
		return strings.HasPrefix(kind, "ssh-") || strings.HasPrefix(kind, "ecdsa-sha2-") || strings.HasPrefix(kind, "sk-")
	}
	return false
}

// parseOpenSSH reads a file of lines as in id_ed25519.pub (sshd(8),
// AUTHORIZED_KEYS FILE FORMAT), without options. An error names the line.
func parseOpenSSH(data []byte, id, algorithm string) ([]*keys.PublicKey, error) {
	if len(data) > maxOpenSSH {
		return nil, fmt.Errorf("the file has more than %d bytes of OpenSSH keys", maxOpenSSH)
	}

	var found []*keys.PublicKey
	number := 0
	for line := range bytes.Lines(data) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		k, err := parseOpenSSHLine(line, id, algorithm)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		found = append(found, k)
	}

	return found, nil
}

func parseOpenSSHLine(line []byte, id, algorithm string) (*keys.PublicKey, error) {
	parsed, _, options, _, err := ssh.ParseAuthorizedKey(line)
	if err != nil {
		return nil, errors.New("expected an OpenSSH public key: its type, a space, its base64")
	}
	if len(options) > 0 {
		return nil, errors.New("options before an OpenSSH key mean nothing here; remove them")
	}

	switch parsed.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoRSA, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521:
	default: // certificates, security keys (which sign something else), DSA
		return nil, fmt.Errorf("receipts are not signed by keys of the type %s", parsed.Type())
	}

	key, ok := parsed.(ssh.CryptoPublicKey)
	if !ok {
		return nil, fmt.Errorf("receipts are not signed by keys of the type %s", parsed.Type())
	}

	return keys.FromPublic(key.CryptoPublicKey(), id, algorithm)
}
