package custody

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/merkle/tlog"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// A Key signs with a private key, regardless of where the key is stored.
type Key interface {
	// Public returns the public key. For a key of an agent or a plugin, its roles are unknown and
	// therefore empty.
	Public() *keys.PublicKey

	// Signer returns a signer of receipts.
	Signer() *keys.Signer

	// SignCheckpoint signs a checkpoint of a log, like [keys.PrivateKey.SignCheckpoint].
	SignCheckpoint(ctx context.Context, c *tlog.Checkpoint) ([]byte, error)

	// Cosign cosigns a checkpoint as a witness, like [keys.PrivateKey.Cosign].
	Cosign(ctx context.Context, name string, checkpoint []byte, at time.Time) ([]byte, error)
}

// Options specify how a key is opened.
type Options struct {
	ID       string        // key ID; if empty, the ID in the file, or one derived from the key
	Patience time.Duration // maximum wait for each response of an agent or plugin
}

// Open finds a key by its name.
func Open(ctx context.Context, e *cli.Env, name string, o Options) (Key, error) {
	if o.Patience <= 0 {
		return nil, cli.Usage("omit the flag for "+Patience.String(), "--key-timeout is longer than nothing, found %s", o.Patience)
	}

	switch {
	case strings.HasPrefix(name, agentPrefix):
		return openAgent(ctx, e, name, o)
	case Elsewhere(name):
		return openPlugin(ctx, e, name, o)
	}
	return openFile(ctx, e, name, o)
}

// Elsewhere reports whether name refers to a key that is not in a file. A web address is not the
// name of a plugin.
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

// Patience is the default maximum wait for an agent or a plugin. A user may have to find a token
// and touch it.
const Patience = time.Minute

// A service has a private key and hashes the messages that it signs.
type service interface {
	keys.ContextSigner
	SignMessageContext(ctx context.Context, message []byte, opts crypto.SignerOpts) ([]byte, error)
}

// A remote is a key in a service. Each signature takes one request.
type remote struct {
	service service
	signer  *keys.Signer
}

// newRemote returns a Key for a service that signs with the one algorithm of its key type.
func newRemote(e *cli.Env, name, id string, s service) (Key, error) {
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

	return &remote{s, signer}, nil
}

func (r *remote) Public() *keys.PublicKey { return r.signer.Public() }

func (r *remote) Signer() *keys.Signer { return r.signer }

func (r *remote) SignCheckpoint(ctx context.Context, c *tlog.Checkpoint) ([]byte, error) {
	public, err := r.ed25519()
	if err != nil {
		return nil, err
	}
	log, err := tlog.NewLog(c.Origin, public)
	if err != nil {
		return nil, err
	}
	s := tlog.LogSigner{Log: log, SignMessage: r.sign}
	return s.SignCheckpoint(ctx, c)
}

func (r *remote) Cosign(ctx context.Context, name string, checkpoint []byte, at time.Time) ([]byte, error) {
	public, err := r.ed25519()
	if err != nil {
		return nil, err
	}
	witness, err := tlog.NewWitness(name, public)
	if err != nil {
		return nil, err
	}
	s := tlog.Cosigner{Witness: witness, SignMessage: r.sign}
	return s.Cosign(ctx, checkpoint, at)
}

// ed25519 returns the public key for a log or a witness. C2SP checkpoints require Ed25519.
func (r *remote) ed25519() (ed25519.PublicKey, error) {
	k := r.Public()
	public, ok := k.Crypto().(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("key %q is for %s, but checkpoints are signed with Ed25519 keys", k.ID, k.Algorithm)
	}
	return public, nil
}

// sign returns an Ed25519 signature (RFC 8032), which package tlog verifies.
func (r *remote) sign(ctx context.Context, message []byte) ([]byte, error) {
	return r.service.SignMessageContext(ctx, message, crypto.Hash(0))
}

// errHashed indicates that a service was given a digest instead of a message.
var errHashed = errors.New("custody: a service requires messages, not digests")
