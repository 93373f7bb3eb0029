package trust

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/custody"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// KeyFlags specifies a private key.
type KeyFlags struct {
	Path     string // path of a file, or the name of a key that is not in a file
	id       string
	patience time.Duration
}

// Add adds the flags to a command.
func (k *KeyFlags) Add(cmd *cobra.Command) {
	k.AddKey(cmd)
	cmd.Flags().StringVar(&k.id, "key-id", "", "ID of a key that is not in a JWK (`ID`)")
}

// AddKey adds all flags except --key-id, which the command defines itself.
func (k *KeyFlags) AddKey(cmd *cobra.Command) {
	cmd.Flags().StringVar(&k.Path, "key", "", "signing key (`KEY`)")
	custody.AddPatience(cmd, &k.patience)
}

// Named sets the ID of the key.
func (k *KeyFlags) Named(id string) { k.id = id }

// PublicHalf returns the command line that writes the public half of the key.
func (k *KeyFlags) PublicHalf() string {
	text := "receipt keys public " + cli.ShellName(k.Path)
	if k.id != "" {
		text += " --id " + cli.ShellName(k.id)
	}
	return text
}

// Open opens the key.
func (k *KeyFlags) Open(ctx context.Context, e *cli.Env) (*keys.Signer, error) {
	return custody.Open(ctx, e, k.Path, custody.Options{ID: k.id, Patience: k.patience})
}

// OpenGiven opens the key if one is specified, and returns nil otherwise.
func (k *KeyFlags) OpenGiven(ctx context.Context, e *cli.Env) (*keys.Signer, error) {
	if given, err := k.Given(); err != nil || !given {
		return nil, err
	}
	return k.Open(ctx, e)
}

// Required returns an error if no key is specified.
func (k *KeyFlags) Required() error {
	if k.Path == "" {
		return cli.Usage("generate a key with receipt keys generate", "missing --key KEY")
	}
	return nil
}

// Sign adds a signature by the key, unless the receipt already has a signature with the same key
// ID.
func (k *KeyFlags) Sign(ctx context.Context, e *cli.Env, key *keys.Signer, sealed *receipt.Sealed) (*receipt.Sealed, error) {
	// A key signs a receipt only once.
	public := key.Public()
	root := sealed.Document().Root()
	for _, s := range root.Member("signatures").Elements() {
		if s.Member("key_id").String() == public.ID {
			return nil, cli.Usage("", "the receipt is already signed by %q", public.ID)
		}
	}

	// The key may belong to a witness, so a different key is only a warning.
	if named := root.Member("issuer").Member("public_key_id"); !named.IsZero() && named.String() != public.ID {
		e.Warn("", "the receipt names %q as its issuer's key; a signature by %q can count only as a witness's", named.String(), public.ID)
	}

	signed, err := sealed.Sign(ctx, key)
	if err != nil {
		return nil, k.Failure(ctx, err)
	}
	return signed, nil
}

// Failure returns the error to report if the key cannot be used. Such an error does not mean that
// the signed data is invalid.
func (k *KeyFlags) Failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return cli.Usage("", "interrupted")
	}
	return cli.Usage("", "%q: %w", k.Path, err)
}

// Given reports whether a key is specified. If only an ID is specified, it returns an error,
// because the user expects a signature.
func (k *KeyFlags) Given() (bool, error) {
	if k.Path == "" && k.id != "" {
		return false, cli.Usage("generate a key with receipt keys generate", "--key-id requires --key")
	}
	return k.Path != "", nil
}
