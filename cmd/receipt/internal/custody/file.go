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

	"golang.org/x/crypto/ssh"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// maxFile is the maximum size of a private key file, in bytes.
const maxFile = 64 << 10

func openFile(ctx context.Context, e *cli.Env, path string, o Options) (*keys.Signer, error) {
	if path == cli.StdinName { // stdin usually contains the receipt
		return nil, cli.Usage("", "--key must be a file, not stdin")
	}
	data, err := input.ReadBounded(e, path, maxFile+1)
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, cli.Usage("", "%q is larger than the limit for a key file, %d bytes", path, maxFile)
	}

	// Other users who can read an encrypted file cannot use its key, so the mode of the file is not
	// checked.
	if isAge(data) {
		if data, err = decryptAge(ctx, e, path, data); err != nil {
			return nil, err
		}
	} else if f := kind.Of(data, true); f.Kind == kind.PrivateKey || f.Kind == kind.Unknown {
		// The mode matters only if the file is, or may be, a private key.
		if err := warnMode(e, path); err != nil {
			return nil, err
		}
	}

	private, err := parse(ctx, e, path, data, o.ID)
	if err != nil {
		return nil, err
	}
	return keys.NewSigner(private, e.Now), nil
}

// parse parses a private key in OpenSSH format, in PEM, or as a JWK.
func parse(ctx context.Context, e *cli.Env, path string, data []byte, id string) (*keys.PrivateKey, error) {
	if isOpenSSH(data) {
		return parseOpenSSH(ctx, e, path, data, id)
	}

	// PEM has no field for the key ID, so --key-id supplies it.
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("-----BEGIN")) {
		return parsePEM(ctx, e, path, data, id)
	}

	private, err := keys.ParsePrivate(data)
	if err != nil {
		if wrong := input.WrongKind(path, data, "a private key", kind.PrivateKey); wrong != nil {
			return nil, wrong
		}
		return nil, cli.Usage("use a JWK from receipt keys generate, or PEM", "%q: %w", path, err)
	}
	if id != "" && id != private.Public().ID {
		return nil, cli.Usage("", "%q contains the key %q, but --key-id is %q", path, private.Public().ID, id)
	}

	return private, nil
}

func parsePEM(ctx context.Context, e *cli.Env, path string, data []byte, id string) (*keys.PrivateKey, error) {
	if id == "" {
		return nil, cli.Usage("", "%q is PEM, which contains no key ID; specify it with --key-id", path)
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

// decryptPKCS8 decrypts a PKCS #8 key, after prompting for its passphrase, and returns it as PEM.
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

// warnMode prints a warning if other users can read a private key. This is not an error, because
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

// parseOpenSSH parses an OpenSSH private key (its PROTOCOL.key), encrypted or not. If --key-id is
// not set, the key has the same ID as in an agent.
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
		return nil, cli.Usage("", "%q does not contain a readable OpenSSH private key", path)
	}

	// The key is converted to PKCS #8, which is the form in which package keys checks private keys.
	if k, ok := key.(*ed25519.PrivateKey); ok {
		key = *k
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, cli.Usage("", "%q: keys of its type cannot sign receipts", path)
	}
	private, err := keys.ParsePrivatePEM(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), id, "")
	if err != nil {
		return nil, cli.Usage("", "%q: %w", path, err)
	}
	return private, nil
}
