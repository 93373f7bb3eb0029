package issue

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/receipt"
)

// NewSign makes the verb sign.
func NewSign(e *cli.Env) *cobra.Command {
	var key trust.KeyFlags
	var output string
	var force bool
	cmd := &cobra.Command{
		Use:   "sign FILE --key KEY",
		Short: "add a signature to a sealed receipt",
		Long: `Add a signature to a sealed receipt, as its issuer or as a witness. The schema and
the hash are checked first: nothing false is ever signed. The hash does not
change; signatures lie outside it.

KEY is a file: a private JWK as receipt keys generate writes it, a key of OpenSSH, or a
key in PEM, whose id then is given by --key-id. Of an encrypted one the passphrase is
asked for on the terminal. Or it is agent:SHA256:…, a key of the ssh-agent by the
fingerprint that ssh-add -l prints, or NAME://KEY, a key of the plugin
sigstore-kms-NAME.`,
		Example: `  receipt sign receipt.json --key witness.private.json -o witnessed.json
  receipt sign - --key issuer.pem --key-id key_1 < receipt.json`,
		Args: cli.ExactArgs(1, "one receipt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if key.Path == "" {
				return cli.Usage("receipt keys generate makes a key", "--key is missing")
			}
			data, err := input.ReadReceipt(e, args[0])
			if err != nil {
				return err
			}
			if err := input.RefuseDraft(args[0], data, " --key "+cli.ShellFile(key.Path)); err != nil {
				return err
			}

			sealed, err := receipt.ParseSealed(data)
			if err != nil {
				return unsignable(args[0], err)
			}
			signing, err := key.Open(cmd.Context(), e)
			if err != nil {
				return err
			}
			if sealed, err = key.Sign(cmd.Context(), e, signing, sealed); err != nil {
				return err
			}

			return cli.WriteOutput(e, output, append(sealed.JSON(), '\n'), 0o644, force)
		},
	}

	key.Add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this `FILE`")
	cmd.Flags().BoolVarP(&force, "force", "f", false, "overwrite the output file")
	return cmd
}

// unsignable words why a document must not be signed, with its report's exit.
func unsignable(path string, err error) error {
	var undecided *receipt.UndecidedError
	if errors.As(err, &undecided) {
		return cli.Undecided("", "%q cannot be signed: %w", cli.SourceName(path), err)
	}
	return cli.Refuted("receipt verify --integrity-only "+cli.ShellFile(cli.SourceName(path))+" shows all of it", "%q must not be signed: %w", cli.SourceName(path), err)
}
