package issue

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/foreign/scitt"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

type exportOptions struct {
	key    trust.KeyFlags
	scitt  bool
	output cli.OutputFlags
}

// NewExport returns the command "receipt export".
func NewExport(e *cli.Env) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export RECEIPT --scitt --key KEY",
		Short: "write a receipt in a format of other tools",
		Long: `Write a sealed receipt as the payload of a signed statement of SCITT (RFC 9943,
COSE_Sign1). KEY is an Ed25519 or ECDSA key.`,
		Example: `  receipt export receipt.json --scitt --key issuer.private.json -o statement.cose
  receipt export receipt.json --scitt --key issuer.private.json | receipt verify --keys keys.json -`,
		Args: cli.ExactArgs(1, "one receipt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !o.scitt {
				return cli.Usage("--scitt writes a SCITT statement", "missing output format")
			}
			if err := o.key.Required(); err != nil {
				return err
			}
			return o.run(cmd.Context(), e, args[0])
		},
	}

	o.key.Add(cmd)
	cmd.Flags().BoolVar(&o.scitt, "scitt", false, "write a signed SCITT statement")
	o.output.Register(cmd.Flags(), "output (`FILE`)")
	return cmd
}

func (o *exportOptions) run(ctx context.Context, e *cli.Env, path string) error {
	sealed, err := readSealed(e, path, "exported", o.key.Path)
	if err != nil {
		return err
	}
	key, err := o.key.Open(ctx, e)
	if err != nil {
		return err
	}
	issued, err := receipt.ParseTime(sealed.Document().Root().Member("issued_at").Text())
	if err != nil {
		return cli.Usage("", "%q: %w", cli.SourceName(path), err)
	}

	public := key.Public()
	algorithm := public.Algorithm
	if algorithm == keys.Ed25519 {
		algorithm = "EdDSA"
	}
	statement, err := scitt.Sign(ctx, scitt.Statement{
		Algorithm: algorithm, KeyID: public.ID, Issuer: sealed.Stream().Issuer,
		Subject: sealed.Document().Root().Member("receipt_id").String(), IssuedAt: issued, ContentType: "application/json", Payload: sealed.JSON(),
	}, key.SignCOSE)
	if err != nil {
		return o.key.Failure(ctx, err)
	}
	return o.output.Write(e, statement, 0o644)
}
