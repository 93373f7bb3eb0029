package issue

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/foreign/a2a"
)

// NewSign returns the command "receipt sign".
func NewSign(e *cli.Env) *cobra.Command {
	var key trust.KeyFlags
	var output cli.OutputFlags
	var card bool
	cmd := &cobra.Command{
		Use:   "sign FILE --key KEY",
		Short: "add a signature to a sealed receipt",
		Long: `Add a signature to a sealed receipt, as its issuer or as a witness, if its
schema and hash are valid.

KEY is one of these:
  FILE             a private JWK, an OpenSSH key, or PEM with --key-id
  agent:SHA256:…   a key of the ssh-agent, as ssh-add -l prints it
  NAME://KEY       a key of the plugin sigstore-kms-NAME

For an encrypted key file, sign prompts for the passphrase.`,
		Example: `  receipt sign receipt.json --key witness.private.json -o witnessed.json
  receipt sign - --key issuer.pem --key-id key_1 < receipt.json`,
		Args: cli.ExactArgs(1, "one receipt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := key.Required(); err != nil {
				return err
			}
			if card {
				return signCard(cmd.Context(), e, args[0], &key, &output)
			}
			sealed, err := readSealed(e, args[0], "signed", key.Path)
			if err != nil {
				return err
			}
			signing, err := key.Open(cmd.Context(), e)
			if err != nil {
				return err
			}
			if sealed, err = key.Sign(cmd.Context(), e, signing, sealed); err != nil {
				return err
			}

			return output.Write(e, append(sealed.JSON(), '\n'), 0o644)
		},
	}

	key.Add(cmd)
	cmd.Flags().BoolVar(&card, "card", false, "sign an agent card (A2A) instead of a receipt")
	output.Register(cmd.Flags(), "output (`FILE`)")
	return cmd
}

// signCard adds a signature to an agent card. A key signs a card only once.
func signCard(ctx context.Context, e *cli.Env, path string, flags *trust.KeyFlags, output *cli.OutputFlags) error {
	doc, err := input.ReadDocument(e, path)
	if err != nil {
		return err
	}
	key, err := flags.Open(ctx, e)
	if err != nil {
		return err
	}
	for _, s := range a2a.Read(doc).Signatures {
		if s.KeyID == key.Public().ID {
			return cli.Usage("", "the card is already signed by %q", s.KeyID)
		}
	}
	var failed error // the error is about the key, not about the card
	card, err := a2a.Sign(ctx, doc, func(ctx context.Context, text []byte) (token string, err error) {
		token, failed = key.SignObject(ctx, text)
		return token, failed
	})
	switch {
	case failed != nil:
		return flags.Failure(ctx, failed)
	case err != nil:
		return cli.Usage("", "%q: %w", cli.SourceName(path), err)
	}
	return output.Write(e, append(card, '\n'), 0o644)
}
