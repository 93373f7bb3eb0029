package custody

import (
	"context"
	"crypto"
	"crypto/rsa"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// Options specify how a key is opened.
type Options struct {
	ID       string        // key ID; if empty, the ID in the file, or an ID derived from the key
	Patience time.Duration // maximum wait for each response from an agent or a plugin
}

// Open returns a signer for the key with the given name. If the key is not in a file, its roles are
// unknown, and therefore empty.
func Open(ctx context.Context, e *cli.Env, name string, o Options) (*keys.Signer, error) {
	if o.Patience <= 0 {
		return nil, cli.Usage("omit the flag for "+Patience.String(), "--key-timeout must be more than 0, found %s", o.Patience)
	}

	switch {
	case strings.HasPrefix(name, agentPrefix):
		return openAgent(ctx, e, name, o)
	case Elsewhere(name):
		return openPlugin(ctx, e, name, o)
	}
	return openFile(ctx, e, name, o)
}

// Elsewhere reports whether name refers to a key that is not in a file. A URL is not the name of a
// plugin.
func Elsewhere(name string) bool {
	scheme, _, found := strings.Cut(name, pluginMark)
	switch strings.ToLower(scheme) {
	case "http", "https", "ftp", "file":
		found = false
	}
	return strings.HasPrefix(name, agentPrefix) || found
}

// AddPatience adds the flag for the maximum wait.
func AddPatience(cmd *cobra.Command, patience *time.Duration) {
	cmd.Flags().DurationVar(patience, "key-timeout", Patience, "maximum wait for an agent or plugin (`DURATION`)")
}

// Patience is the default maximum wait for an agent or a plugin. It leaves time for a user to find
// a security token and touch it.
const Patience = time.Minute

// A service holds a private key, and hashes the messages that it signs.
type service interface {
	keys.ContextSigner
	SignMessageContext(ctx context.Context, message []byte, opts crypto.SignerOpts) ([]byte, error)
}

// newRemote returns a signer for a service. The type of its key must have exactly one signature
// algorithm. Each signature requires one request.
func newRemote(e *cli.Env, name, id string, s service) (*keys.Signer, error) {
	if _, ok := s.Public().(*rsa.PublicKey); ok {
		return nil, cli.Usage("keys of the types Ed25519 and ECDSA have one algorithm",
			"%q is an RSA key, which does not specify which of six algorithms it signs with", name)
	}

	// The public key determines the algorithm, because the service does not report one.
	public, err := keys.FromPublic(s.Public(), id, "")
	if err != nil {
		return nil, cli.Usage("", "%q: %w", name, err)
	}
	signer, err := keys.NewRemoteSigner(public.ID, public.Algorithm, s, e.Now)
	if err != nil {
		return nil, cli.Usage("", "%q: %w", name, err)
	}
	return signer, nil
}

// errHashed indicates that a service was given a digest instead of a message.
var errHashed = errors.New("custody: a service requires messages, not digests")
