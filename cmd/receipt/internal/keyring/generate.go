package keyring

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/custody"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

type generateOptions struct {
	bindingFlags
	id, algorithm   string
	private, public string
	force, encrypt  bool
}

func newKeysGenerate(e *cli.Env) *cobra.Command {
	var o generateOptions
	cmd := &cobra.Command{
		Use:   "generate [--issuer ID] --private FILE --keys FILE",
		Short: "generate a key, and trust it",
		Long: `Generate a key. The private half is written to a new file that only its owner
can read, and the public half is added to the trust file --keys. The default ID
is derived from the key.`,
		Example: `  receipt keys generate --issuer harness_a --private a.private.json --keys keys.json
  receipt keys generate --any-issuer --role witness --id w1 --private w1.private.json --keys keys.json`,
		Args: cli.ExactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, args []string) error { return generate(cmd.Context(), e, &o) },
	}

	f := cmd.Flags()
	f.StringVar(&o.id, "id", "", "key ID that signatures name (`ID`)")
	f.StringVar(&o.algorithm, "alg", keys.Ed25519, "algorithm: ed25519, EdDSA, ES256, ML-DSA-65, … (`ALG`)")
	f.StringVar(&o.private, "private", "", "new file for the private key (`FILE`)")
	f.StringVarP(&o.public, "keys", "k", "", "trust file to add the public key to (`FILE`)")
	cli.Alias(f, "keys", "public")
	f.BoolVarP(&o.force, "force", "f", false, "overwrite the private key file")
	f.BoolVar(&o.encrypt, "encrypt", false, "encrypt the private key with a passphrase")
	o.bindingFlags.add(cmd)
	return cmd
}

func generate(ctx context.Context, e *cli.Env, o *generateOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	trust, public, err := o.create(ctx, e)
	if err != nil {
		return err
	}

	readable := "readable only by its owner"
	if o.encrypt {
		readable = "encrypted with a passphrase"
	}
	fmt.Fprintf(e.Notes(), "private key  %s, %s\n", cli.EscapeLine(o.private), readable)
	fmt.Fprintf(e.Notes(), "trust file   %s (%d)\n", cli.EscapeLine(o.public), len(trust.Keys()))
	printKey(e.Notes(), public, e.Now())
	return nil
}

// Create generates a key that speaks for an issuer, writes it to a new file, and adds it to a trust
// file.
func Create(ctx context.Context, e *cli.Env, issuer, private, public string) error {
	o := generateOptions{bindingFlags: bindingFlags{issuers: []string{issuer}}, algorithm: keys.Ed25519, private: private, public: public}
	if err := o.check(); err != nil {
		return err
	}
	_, _, err := o.create(ctx, e)
	return err
}

// Trust adds a key that speaks for an issuer to a trust file.
func Trust(e *cli.Env, issuer, path string, public *keys.PublicKey) error {
	o := bindingFlags{issuers: []string{issuer}}
	trust, err := openTrust(e, path, true)
	if err != nil {
		return err
	}
	o.bind(public)
	if err := trust.Add(public); err != nil {
		return addFailure(trust, err, public)
	}
	return trust.save()
}

// CheckTrusted returns an error if a key may not speak for an issuer according to a trust file.
func CheckTrusted(e *cli.Env, issuer, path, private string, public *keys.PublicKey) error {
	trust, err := openTrust(e, path, false)
	if err != nil {
		return err
	}
	for _, k := range trust.Keys() {
		if k.ID == public.ID && k.Thumbprint == public.Thumbprint && (len(k.Issuers) == 0 || slices.Contains(k.Issuers, issuer)) {
			return nil
		}
	}
	hint := fmt.Sprintf("receipt keys public %s | receipt keys import - --issuer %s --keys %s", cli.ShellFile(private), cli.ShellName(issuer), cli.ShellFile(path))
	return cli.Usage(hint, "%q does not trust the key %q in %q for the issuer %q", path, public.ID, private, issuer)
}

// create generates the key, and returns its trust file and its public key.
func (o *generateOptions) create(ctx context.Context, e *cli.Env) (*trustFile, *keys.PublicKey, error) {
	trust, err := openTrust(e, o.public, true)
	if err != nil {
		return nil, nil, err
	}

	private, err := keys.Generate(rand.Reader, o.algorithm, o.id)
	if err != nil {
		return nil, nil, cli.Usage("", "%w", err)
	}

	// The key is first added in memory, so that a conflict is reported before anything is written.
	public := private.Public()
	o.bind(public)
	if err := signsItsRoles(public); err != nil {
		return nil, nil, err
	}
	if err := trust.Add(public); err != nil {
		return nil, nil, addFailure(trust, err, public)
	}

	// The private key file also records the purpose of the key.
	secret, err := private.For(public.Roles, public.Origin).MarshalPrivate()
	if err != nil {
		return nil, nil, err
	}
	if o.encrypt {
		passphrase, err := custody.NewPassphrase(ctx, e, o.private)
		if err != nil {
			return nil, nil, err
		}
		if secret, err = custody.Encrypt(secret, passphrase); err != nil {
			return nil, nil, err
		}
	}
	return trust, public, writePair(trust, o.private, secret, o.force)
}

// signsItsRoles rejects a new checkpoint key that cannot sign checkpoints. A trust file may contain
// such a key if it belongs to a log in another format.
func signsItsRoles(k *keys.PublicKey) error {
	if !k.Has(receipt.RoleCheckpoint) {
		return nil
	}
	if _, err := k.Log("name"); err != nil {
		return cli.Usage("use --alg ed25519 or ML-DSA-44", "%w", err)
	}
	return nil
}

func (o *generateOptions) check() error {
	switch {
	case o.private == "" || o.public == "":
		return cli.Usage("receipt keys generate --help shows examples", "both --private FILE and --keys FILE are required")
	case o.private == cli.StdinName:
		return cli.Usage("", "--private must be a file, not stdout")
	case cli.SameFile(o.private, o.public):
		return cli.Usage("a trust file never contains private keys", "--private and --keys name the same file, %q", o.private)
	}
	return o.bindingFlags.check()
}

// writePair writes both the private key and the trust file, or neither. An existing key is
// overwritten only after everything else has succeeded.
func writePair(trust *trustFile, path string, secret []byte, force bool) error {
	const ownerOnly = 0o600
	private, err := cli.PrepareFile(path, secret, ownerOnly, true)
	if err != nil {
		return err
	}
	defer private.Discard()

	// The private key is written last, because writing it destroys the old key.
	if force {
		if err := trust.save(); err != nil {
			return err
		}
		return private.Commit()
	}

	// A new file is created first, because its name may already be in use.
	if err := private.CommitNew(); errors.Is(err, fs.ErrExist) {
		return cli.Usage("overwrite it with --force; the old key is then lost", "%q exists already", path)
	} else if err != nil {
		return err
	}
	if err := trust.save(); err != nil {
		os.Remove(path) // the key is useless without the trust file
		return err
	}

	return nil
}
