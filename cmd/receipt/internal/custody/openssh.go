package custody

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"

	"golang.org/x/crypto/ssh"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

func isOpenSSH(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte("-----BEGIN OPENSSH PRIVATE KEY-----"))
}

// parseOpenSSH reads a private key of OpenSSH (its PROTOCOL.key), encrypted or not. Its
// id is the one that the same key has in an agent.
func parseOpenSSH(ctx context.Context, e *cli.Env, path string, data []byte, id string) (*keys.PrivateKey, error) {
	key, err := ssh.ParseRawPrivateKey(data)
	if errors.As(err, new(*ssh.PassphraseMissingError)) {
		passphrase, asked := askFor(ctx, e, path)
		if asked != nil {
			return nil, asked
		}
		key, err = ssh.ParseRawPrivateKeyWithPassphrase(data, []byte(passphrase))
	}
	switch {
	case errors.Is(err, x509.IncorrectPasswordError):
		return nil, wrongPassphrase(path)
	case err != nil:
		return nil, cli.Usage("", "%q holds no private key of OpenSSH that can be read", path)
	}

	// In the form in which private keys are judged.
	if k, ok := key.(*ed25519.PrivateKey); ok {
		key = *k
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, cli.Usage("", "%q: receipts are not signed by keys of its type", path)
	}
	private, err := keys.ParsePrivatePEM(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), id, "")
	if err != nil {
		return nil, cli.Usage("", "%q: %w", path, err)
	}
	return private, nil
}
