package custody

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/kind"
)

// maxFile is the size of the largest private key file that is read, in bytes.
const maxFile = 64 << 10

// An inFile is a key that was read from a file.
type inFile struct {
	*keys.PrivateKey
	now func() time.Time
}

func (k *inFile) Signer() *keys.Signer { return keys.NewSigner(k.PrivateKey, k.now) }

func openFile(ctx context.Context, e *cli.Env, path string, o Options) (Key, error) {
	if path == cli.StdinName { // often the receipt is
		return nil, cli.Usage("", "--key is a file, stdin is not read for it")
	}
	data, err := input.ReadBounded(e, path, maxFile+1)
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, cli.Usage("", "%q is larger than a key file ever is, %d bytes", path, maxFile)
	}

	// Who reads an encrypted file has no key yet.
	if isAge(data) {
		if data, err = decryptAge(ctx, e, path, data); err != nil {
			return nil, err
		}
	} else if f := kind.Of(data, true); f.Kind == kind.PrivateKey || f.Kind == kind.Unknown {
		// Of a file of another kind the mode does not matter.
		if err := warnMode(e, path); err != nil {
			return nil, err
		}
	}

	private, err := parse(ctx, e, path, data, o.ID)
	if err != nil {
		return nil, err
	}
	return &inFile{private, e.Now}, nil
}

// parse reads a private key.
func parse(ctx context.Context, e *cli.Env, path string, data []byte, id string) (*keys.PrivateKey, error) {
	if isOpenSSH(data) {
		return parseOpenSSH(ctx, e, path, data, id)
	}

	// PEM has no place for an id, which --key-id gives.
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("-----BEGIN")) {
		return parsePEM(ctx, e, path, data, id)
	}

	private, err := keys.ParsePrivate(data)
	if err != nil {
		if wrong := input.WrongKind(path, data, "a private key", kind.PrivateKey); wrong != nil {
			return nil, wrong
		}
		return nil, cli.Usage("a private key is a JWK, as receipt keys generate writes it, or PEM", "%q: %w", path, err)
	}
	if id != "" && id != private.Public().ID {
		return nil, cli.Usage("", "%q holds the key %q, --key-id says %q", path, private.Public().ID, id)
	}

	return private, nil
}

func parsePEM(ctx context.Context, e *cli.Env, path string, data []byte, id string) (*keys.PrivateKey, error) {
	if id == "" {
		return nil, cli.Usage("", "%q is PEM, which holds no key id; give it by --key-id", path)
	}
	if block, rest := pem.Decode(bytes.TrimSpace(data)); block != nil && block.Type == pkcs8Type && len(bytes.TrimSpace(rest)) == 0 {
		var err error
		if data, err = decryptPKCS8(ctx, e, path, block.Bytes); err != nil {
			return nil, err
		}
	}

	private, err := keys.ParsePrivatePEM(data, id, "")
	if err != nil {
		return nil, cli.Usage("", "%q: %w", path, err)
	}
	return private, nil
}

// decryptPKCS8 returns the PEM file of an encrypted one, for which it asks the passphrase.
func decryptPKCS8(ctx context.Context, e *cli.Env, path string, der []byte) ([]byte, error) {
	key, params, err := readEncrypted(der)
	if err != nil {
		return nil, cli.Usage("", "%q cannot be decrypted: %w", path, err)
	}
	passphrase, err := askFor(ctx, e, path)
	if err != nil {
		return nil, err
	}

	text, err := key.open(params, passphrase)
	switch {
	case errors.Is(err, errPassphrase):
		return nil, cli.Usage("", "%q: %w", path, err)
	case err != nil:
		return nil, cli.Usage("", "%q cannot be decrypted: %w", path, err)
	}
	return text, nil
}

// warnMode says when others on the machine can read a private key. It is no error:
// secrets that a cluster mounts are often readable by a group.
func warnMode(e *cli.Env, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return input.ReadError(path, err)
	}
	const others fs.FileMode = 0o077
	if runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&others != 0 {
		e.Warn("chmod 600 "+cli.ShellFile(path), "the private key %q can be read by others: its mode is %04o", path, info.Mode().Perm())
	}
	return nil
}

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
