package logs

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

func newLedgerSign(e *cli.Env) *cobra.Command {
	var key trust.KeyFlags
	cmd := &cobra.Command{
		Use:   "sign FILE ID… --key KEY",
		Short: "add a signature to stored receipts",
		Long: `Add a signature to receipts of a ledger, named by their receipt_id, as their issuer
or as a witness. The content, the hash and the row of each are checked first. The
hash does not change; signatures lie outside it. Each receipt is printed when its
signature is stored durably.

A receipt that has a signature of the key stays as it is, so that a run can be
repeated.`,
		Example: `  receipt ledger sign april.db receipt_01K0TASK --key issuer.private.json
  receipt ledger sign april.db receipt_01K0TASK --key issuer.pem --key-id key_1`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return cli.Usage(cmd.CommandPath()+" --help has examples", "expected the receipt_id of a receipt")
			}
			return ledgerFile(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if key.Path == "" {
				return cli.Usage("receipt keys generate makes a key", "--key is missing")
			}
			return ledgerSign(cmd.Context(), e, &key, args[0], args[1:])
		},
	}

	key.Add(cmd)
	return cmd
}

func ledgerSign(ctx context.Context, e *cli.Env, key *trust.KeyFlags, path string, ids []string) error {
	signing, err := key.Open(ctx, e)
	if err != nil {
		return err
	}

	l, err := input.OpenLedger(ctx, path, true)
	if err != nil {
		return err
	}
	defer l.Close()

	// Each is printed when it is stored, so that a run that was cut off can be repeated.
	signer := signing.Signer()
	for _, id := range ids {
		signed, err := l.Sign(ctx, id, signer)
		if err != nil {
			return ledgerSigning(id, err)
		}
		if _, err := e.Out.Write(append(signed.JSON(), '\n')); err != nil {
			return err
		}
	}

	return nil
}

func ledgerSigning(id string, err error) error {
	var refutation *receipt.RefutedError
	var undecided *receipt.UndecidedError
	var damage *ledger.DamageError
	var pruned *ledger.PrunedError
	switch {
	case errors.As(err, &pruned):
		return prunedFailure(pruned)
	case errors.Is(err, ledger.ErrNotFound):
		return cli.Usage("receipt ledger list lists what there is", "the ledger has no receipt %q", id)
	case errors.As(err, &damage):
		return ledgerReading(err)
	case errors.As(err, &refutation):
		return cli.Refuted("receipt ledger fsck tells what is damaged", "receipt %q must not be signed: %w", id, err)
	case errors.As(err, &undecided):
		return cli.Undecided("", "receipt %q cannot be signed: %w", id, err)
	}
	return cli.Usage("run the same command again: what is signed stays as it is", "receipt %q: %w", id, err)
}
