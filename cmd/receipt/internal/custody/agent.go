package custody

import (
	"context"
	"crypto"
	"encoding/asn1"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

const agentPrefix = "agent:"

// An agentKey is a key that an ssh-agent holds (draft-ietf-sshm-ssh-agent). Each request uses its
// own connection, so that a request without a response does not delay others.
type agentKey struct {
	socket
	key    ssh.PublicKey
	public crypto.PublicKey
}

// openAgent finds a key by its fingerprint. Key comments are not used, because two keys may have
// the same comment.
func openAgent(ctx context.Context, e *cli.Env, name string, o Options) (*keys.Signer, error) {
	fingerprint := strings.TrimPrefix(name, agentPrefix)
	if !isFingerprint(fingerprint) {
		return nil, cli.Usage("list the keys of an agent with ssh-add -l",
			"a key of an ssh-agent is named by its fingerprint, agent:SHA256: and 43 characters of base64, found %q", name)
	}

	s := socket{e.Getenv("SSH_AUTH_SOCK"), o.Patience}
	if s.path == "" {
		return nil, cli.Usage(`eval "$(ssh-agent)" starts one, and ssh-add FILE gives it a key`, "%q: there is no ssh-agent: SSH_AUTH_SOCK is not set", name)
	}

	var list []*agent.Key
	err := s.ask(ctx, func(a agent.ExtendedAgent) (err error) {
		list, err = a.List()
		return err
	})
	if err != nil {
		return nil, s.failure(name, err)
	}

	// The agent lists all of its keys. Select the named key, and reject a type that cannot sign
	// receipts.
	key, err := choose(name, fingerprint, list)
	if err != nil {
		return nil, err
	}
	return newRemote(e, name, o.ID, &agentKey{s, key, key.(ssh.CryptoPublicKey).CryptoPublicKey()})
}

// isFingerprint reports whether text has the form in which "ssh-keygen -l" prints a SHA-256
// fingerprint.
func isFingerprint(text string) bool {
	digest, found := strings.CutPrefix(text, "SHA256:")
	hash, err := base64.RawStdEncoding.Strict().DecodeString(digest)
	return found && err == nil && len(hash) == crypto.SHA256.Size()
}

// choose returns the key with the given fingerprint from an agent's list, if its type can sign
// receipts.
func choose(name, fingerprint string, list []*agent.Key) (ssh.PublicKey, error) {
	var others []string
	certified := false
	for _, k := range list {
		key, err := ssh.ParsePublicKey(k.Blob)
		if err != nil {
			continue // the key type is not supported
		}

		// For a certificate, "ssh-add -l" prints the fingerprint of its key, so such an entry
		// matches, too.
		if c, ok := key.(*ssh.Certificate); ok {
			certified = certified || ssh.FingerprintSHA256(c.Key) == fingerprint
			continue
		}
		if ssh.FingerprintSHA256(key) == fingerprint {
			return signs(name, key)
		}
		others = append(others, ssh.FingerprintSHA256(key))
	}

	switch {
	case certified:
		return nil, cli.Usage("add the key itself with ssh-add FILE", "%q: the ssh-agent has a certificate of this key, but not the key", name)
	case len(list) == 0:
		return nil, cli.Usage("add a key with ssh-add FILE; a locked agent lists no keys until ssh-add -X unlocks it", "%q: the ssh-agent has no keys", name)
	}
	slices.Sort(others)
	return nil, cli.Usage("list the keys with ssh-add -l, or add one with ssh-add FILE",
		"%q is not among the %s of the ssh-agent: %s", name, cli.Plural(len(list), "key", ""), untrusted.Cut(strings.Join(others, ", "), maxNamed))
}

// maxNamed is the maximum number of bytes that a message quotes from the output of an agent or a
// plugin.
const maxNamed = 500

// signs returns key, or an error if keys of its type cannot sign receipts.
func signs(name string, key ssh.PublicKey) (ssh.PublicKey, error) {
	switch key.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521:
		return key, nil
	case ssh.KeyAlgoSKED25519, ssh.KeyAlgoSKECDSA256:
		return nil, cli.Usage("create a key that signs the message itself with ssh-keygen -t ed25519",
			"%q is a key of the type %s: a security key adds its own data to the message, so its signature does not verify for a receipt", name, key.Type())
	case ssh.KeyAlgoRSA:
		return nil, cli.Usage("create a key with a single algorithm with ssh-keygen -t ed25519",
			"%q is an RSA key, which does not specify which of six algorithms it signs with", name)
	}
	return nil, cli.Usage("create a supported key with ssh-keygen -t ed25519", "%q: keys of the type %s cannot sign receipts", name, key.Type())
}

func (k *agentKey) Public() crypto.PublicKey { return k.public }

func (k *agentKey) SignContext(context.Context, []byte, crypto.SignerOpts) ([]byte, error) {
	return nil, errHashed
}

// SignMessageContext requests a signature from the agent. The key determines the algorithm and the
// hash (RFC 5656 section 6.2.1, RFC 8709 section 6).
func (k *agentKey) SignMessageContext(ctx context.Context, message []byte, _ crypto.SignerOpts) ([]byte, error) {
	var sig *ssh.Signature
	err := k.ask(ctx, func(a agent.ExtendedAgent) (err error) {
		sig, err = a.SignWithFlags(k.key, message, 0)
		return err
	})
	if err != nil {
		return nil, k.refusal(err)
	}

	switch {
	case len(sig.Rest) > 0:
		return nil, errors.New("the ssh-agent returned more than a signature")
	case sig.Format != k.key.Type():
		return nil, fmt.Errorf("the ssh-agent returned a signature of type %s, expected %s", untrusted.Quote(sig.Format, 64), k.key.Type())
	case sig.Format == ssh.KeyAlgoED25519:
		return sig.Blob, nil // RFC 8709 section 6: the blob is the 64 bytes of RFC 8032
	}

	// The blob contains r and s (RFC 5656 section 3.1.2), but callers expect DER.
	var rs struct{ R, S *big.Int }
	if err := ssh.Unmarshal(sig.Blob, &rs); err != nil {
		return nil, fmt.Errorf("the ssh-agent returned no ECDSA signature: %w", err)
	}
	return asn1.Marshal(rs)
}

// A socket is the Unix socket of an agent.
type socket struct {
	path     string
	patience time.Duration
}

var (
	errAbsent = errors.New("nobody listens")
	errSilent = errors.New("it took too long")
)

// ask opens a connection, and calls question with a client for it. If the caller's context has
// ended, ask returns the context's error. If the agent does not respond in time, ask returns
// errSilent.
func (s socket) ask(ctx context.Context, question func(agent.ExtendedAgent) error) error {
	within, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()

	conn, err := new(net.Dialer).DialContext(within, "unix", s.path)
	if err == nil {
		defer conn.Close()
		defer context.AfterFunc(within, func() { conn.Close() })()
		err = question(agent.NewClient(conn))
	} else {
		err = fmt.Errorf("%w: %w", errAbsent, err)
	}

	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case within.Err() != nil:
		return errSilent
	}
	return err
}

// failure describes why an agent did not list its keys.
func (s socket) failure(name string, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return cli.Usage("", "interrupted")
	case errors.Is(err, errSilent):
		return cli.Usage(moreTime, "%q: the ssh-agent at %q did not answer within %s", name, s.path, s.patience)
	case errors.Is(err, errAbsent):
		return cli.Usage(`eval "$(ssh-agent)" starts one, and ssh-add FILE gives it a key`, "%q: no ssh-agent: %w", name, err)
	}
	return cli.Usage("set SSH_AUTH_SOCK to the socket of an ssh-agent", "%q: the program at %q is not an ssh-agent: %w", name, s.path, err)
}

// refusal describes why an agent did not sign with a key. The agent does not report a reason.
func (s socket) refusal(err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, errAbsent):
		return err
	case errors.Is(err, errSilent):
		return fmt.Errorf("the ssh-agent did not answer within %s (see --key-timeout)", s.patience)
	}
	return fmt.Errorf("the ssh-agent did not sign (%w): the key was removed, the agent was locked, or the request was declined", err)
}

// moreTime is the hint for a service that takes too long.
const moreTime = "wait longer with --key-timeout"
