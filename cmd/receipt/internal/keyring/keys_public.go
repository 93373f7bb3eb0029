package keyring

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/custody"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

func newKeysPublic(e *cli.Env) *cobra.Command {
	var id string
	var patience time.Duration
	cmd := &cobra.Command{
		Use:   "public KEY",
		Short: "write the public half of a private key",
		Long: `Write the public half of a private key as a JWK Set, for those who verify: of a key in
a file, in an ssh-agent (agent:SHA256:…) or behind a plugin (NAME://KEY). Its id is the
one that signatures of the key name.

It speaks for no issuer: whoever trusts it says for which, by receipt keys import.`,
		Example: `  receipt keys public issuer.private.json
  receipt keys public a.private.json | receipt keys import - --issuer harness_b --keys b.json`,
		Args: cli.ExactArgs(1, "one private key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := custody.Open(cmd.Context(), e, args[0], custody.Options{ID: id, Patience: patience})
			if err != nil {
				return err
			}
			text, err := publicSet(key)
			if err != nil {
				return err
			}
			return cli.WriteOutput(e, "", text, 0, false)
		},
	}

	cmd.Flags().StringVar(&id, "id", "", "the key `ID` that signatures name, of a key that is not in a JWK")
	custody.AddPatience(cmd, &patience)
	return cmd
}

// publicSet is a key set of one key, that nobody has bound to an issuer.
func publicSet(key custody.Key) ([]byte, error) {
	var file keys.File
	if err := file.Add(key.Public()); err != nil {
		return nil, err
	}
	return file.Marshal()
}

// publicOf returns the public half of a key that is in no file.
func publicOf(ctx context.Context, e *cli.Env, name, id string, patience time.Duration) ([]*keys.PublicKey, error) {
	key, err := custody.Open(ctx, e, name, custody.Options{ID: id, Patience: patience})
	if err != nil {
		return nil, err
	}
	return []*keys.PublicKey{key.Public()}, nil
}
