package keyring

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/custody"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

type importOptions struct {
	bindingFlags
	id, algorithm string
	to            string
	patience      time.Duration

	verifiers bool // FILE contains verifier keys
}

func newKeysImport(e *cli.Env) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import FILE --issuer ID",
		Short: "trust a public key",
		Long: `Add public keys to a trust file: from PEM, OpenSSH public key lines, a JWK, a
JWK Set, verifier keys of signed notes (with --role checkpoint or witness), an
ssh-agent (agent:SHA256:…), or a plugin (NAME://KEY).

The flags specify which issuers a key may speak for; FILE never does. Compare
the printed fingerprint with the issuer's over another channel.
`,
		Example: `  receipt keys import key.pem --id key_2026_04 --issuer harness_a --keys keys.json
  receipt keys import id_ed25519.pub --any-issuer --role witness --keys keys.json`,
		Args: cli.ExactArgs(1, "one file of public keys"),
		RunE: func(cmd *cobra.Command, args []string) error { return importKeys(cmd.Context(), e, args[0], &o) },
	}

	f := cmd.Flags()
	f.StringVar(&o.id, "id", "", "key ID, instead of that in the file (`ID`)")
	f.StringVar(&o.algorithm, "alg", "", "algorithm, if the file does not state one (`ALG`)")
	f.StringVarP(&o.to, "keys", "k", "", "trust file (`FILE`)")
	cli.Alias(f, "keys", "to")
	o.bindingFlags.add(cmd)
	custody.AddPatience(cmd, &o.patience)
	return cmd
}

func importKeys(ctx context.Context, e *cli.Env, path string, o *importOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	found, err := o.read(ctx, e, path)
	if err != nil {
		return err
	}
	if o.id != "" && len(found) > 1 {
		return cli.Usage("omit --id, or import one key at a time", "%q contains %d keys, but --id applies to a single key", cli.SourceName(path), len(found))
	}

	trust, err := openTrust(e, o.to, true)
	if err != nil {
		return err
	}

	// The issuers for which a key speaks are never taken from the file.
	for _, k := range found {
		if o.algorithm != "" && k.Algorithm != o.algorithm {
			return cli.Usage("", "%q: the key %q is for %s, but --alg is %s", cli.SourceName(path), k.ID, k.Algorithm, o.algorithm)
		}
		verifier := k.Origin // name in a verifier key; it is part of the key
		if !o.verifiers {
			verifier = ""
		}
		if err := o.fits(path, k, verifier); err != nil {
			return err
		}
		if len(o.roles) == 0 && !k.Has(receipt.RoleIssuer) {
			return cli.Usage("specify its roles with --role", "%q: the key %q is for the role %s, not for issuers", cli.SourceName(path), k.ID, cli.RolesText(k))
		}
		o.bind(k)
		k.Origin = cmp.Or(verifier, k.Origin)
	}

	// Write the file only if all keys were added.
	if err := trust.Add(found...); err != nil {
		return addFailure(trust, err, found...)
	}
	if err := trust.save(); err != nil {
		return err
	}

	fmt.Fprintf(e.Out, "trust file   %s (%d)\n", cli.EscapeLine(trust.path), len(trust.Keys()))
	for _, k := range found {
		if k, err = trust.find(k.ID); err != nil { // the stored key is used, because its key material may be revoked
			return err
		}
		printKey(e.Out, k, e.Now())
		if others := trust.namesakes(k); len(others) > 0 {
			fmt.Fprintf(e.Out, "same key as  %s\n", cli.EscapeLine(strings.Join(others, ", ")))
		}
	}

	return nil
}

// fits returns an error if the flags conflict with a verifier key, which has a fixed role and a
// fixed name.
func (o *importOptions) fits(path string, k *keys.PublicKey, name string) error {
	switch {
	case name == "":
		return nil
	case o.origin != "" && o.origin != name:
		return cli.Usage("leave --origin out", "%q is the verifier key of %q, but --origin is %q", cli.SourceName(path), name, o.origin)
	case len(o.roles) > 0 && !slices.ContainsFunc(k.Roles, func(r receipt.Role) bool { return slices.Contains(o.roles, string(r)) }):
		return cli.Usage("", "%q is a verifier key for the role %s, but --role names another", cli.SourceName(path), cli.RolesText(k))
	}
	return nil
}

// read returns the public keys in a file. For a key that is not in a file, it returns the public
// half of the key.
func (o *importOptions) read(ctx context.Context, e *cli.Env, path string) ([]*keys.PublicKey, error) {
	if custody.Elsewhere(path) {
		key, err := custody.Open(ctx, e, path, custody.Options{ID: o.id, Patience: o.patience})
		if err != nil {
			return nil, err
		}
		return []*keys.PublicKey{key.Public()}, nil
	}
	data, err := input.ReadBounded(e, path, keys.MaxSetBytes+1)
	if err != nil {
		return nil, err
	}

	o.verifiers = isVerifierKey(bytes.TrimSpace(data))
	found, err := publicKeys(data, o.id, o.algorithm)
	if err != nil {
		if wrong := input.WrongKind(path, data, "a public key", kind.Keys, kind.PrivateKey); wrong != nil {
			return nil, wrong
		}
		return nil, cli.Usage(trust.KeyHint(err), "%q: %w", cli.SourceName(path), err)
	}
	return found, nil
}

// publicKeys parses public keys in any of the common formats.
func publicKeys(data []byte, id, algorithm string) ([]*keys.PublicKey, error) {
	start := bytes.TrimSpace(data)
	switch {
	case bytes.Contains(start, []byte("OPENSSH PRIVATE KEY-----")):
		return nil, errors.New("this file contains a private key; export its public half with: ssh-keygen -y -f FILE")
	case bytes.HasPrefix(start, []byte("---- BEGIN SSH2 PUBLIC KEY")):
		return nil, errors.New("this is an SSH2 key; convert it with: ssh-keygen -i -f FILE")
	case bytes.HasPrefix(start, []byte("PuTTY-User-Key-File")):
		return nil, errors.New("this file contains a private key; use its public half, as an OpenSSH line")
	case bytes.HasPrefix(start, []byte("-----BEGIN ")):
		return one(keys.ParsePublicPEM(data, id, algorithm))
	case isVerifierKey(start):
		return parseVerifierKeys(start, id)
	case isOpenSSH(start):
		return parseOpenSSH(data, id, algorithm)
	}
	return parseJWKs(data, id, algorithm)
}

func one(k *keys.PublicKey, err error) ([]*keys.PublicKey, error) {
	if err != nil {
		return nil, err
	}
	return []*keys.PublicKey{k}, nil
}

// parseJWKs parses a JWK, or all keys in a JWK Set. The keys in a set may lack a kid.
func parseJWKs(data []byte, id, algorithm string) ([]*keys.PublicKey, error) {
	doc, err := canon.Parse(data)
	if err != nil || doc.Root().Member("keys").Kind() != canon.KindArray {
		return one(keys.ParsePublic(data, id, algorithm))
	}

	// RFC 7517 section 5: the member "keys" contains the set.
	list := doc.Root().Member("keys")
	switch n := list.Len(); {
	case n == 0:
		return nil, errors.New("the JWK Set has no keys")
	case n > keys.MaxKeys:
		return nil, fmt.Errorf("the JWK Set has %d keys; the maximum is %d", n, keys.MaxKeys)
	}

	var found []*keys.PublicKey
	for i, n := range list.Elements() {
		k, err := keys.ParsePublic(n.Raw(), id, algorithm)
		if err != nil {
			return nil, fmt.Errorf("key %d of the set: %w", i+1, err)
		}
		found = append(found, k)
	}

	return found, nil
}

// addFailure describes why keys cannot be added to a trust file.
func addFailure(t *trustFile, err error, list ...*keys.PublicKey) error {
	for _, k := range list {
		if there, missing := t.find(k.ID); missing == nil {
			return cli.Usage("specify another ID with --id; to replace the old key, keep it, and run: receipt keys revoke ID --reason superseded",
				"%q already has a key %q, with the fingerprint %s", t.path, k.ID, there.Fingerprint())
		}
	}
	return cli.Usage("", "the key cannot be trusted: %w", err)
}

// printKey prints the properties of a key, including a fingerprint that two people can compare.
func printKey(w io.Writer, k *keys.PublicKey, now time.Time) {
	fmt.Fprintf(w, "key          %s, %s, %s\n", cli.EscapeLine(k.ID), k.Algorithm, cli.RolesText(k))
	if k.Has(receipt.RoleIssuer) {
		fmt.Fprintf(w, "speaks for   %s\n", issuersText(k))
	}
	if status := statusText(k, now); status != "valid" {
		fmt.Fprintf(w, "status       %s\n", status)
	}
	fmt.Fprintf(w, "fingerprint  %s\n", k.Fingerprint())
}

// maxOpenSSH is the maximum size of a file of OpenSSH keys, in bytes.
const maxOpenSSH = 1 << 20

// isOpenSSH reports whether data looks like OpenSSH public key lines, which may be preceded by
// comments.
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

// parseOpenSSH parses lines such as those in id_ed25519.pub (sshd(8), AUTHORIZED_KEYS FILE FORMAT),
// without options. Errors contain the line number.
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
		return nil, errors.New("remove the options before the OpenSSH key")
	}

	switch parsed.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoRSA, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521:
	default: // certificates, security keys (which sign a different message), and DSA keys
		return nil, fmt.Errorf("keys of the type %s cannot sign receipts", parsed.Type())
	}

	key, ok := parsed.(ssh.CryptoPublicKey)
	if !ok {
		return nil, fmt.Errorf("keys of the type %s cannot sign receipts", parsed.Type())
	}

	return keys.FromPublic(key.CryptoPublicKey(), id, algorithm)
}
