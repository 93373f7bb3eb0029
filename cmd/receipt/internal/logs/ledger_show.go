package logs

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// A Shower shows one receipt to a person, as the verb show does; name is what its
// source is called, and judge the command that checks who signed.
type Shower func(e *cli.Env, name string, data []byte, judge string) error

func newLedgerShow(e *cli.Env, show Shower) *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE ID",
		Short: "show a stored receipt to a person",
		Long: `Show the receipt of a ledger that has this receipt_id, as receipt show does. Its
content, its hash and its row are checked first; its signatures are for receipt ledger
fsck.`,
		Example: `  receipt ledger show april.db receipt_01K0TASK
  receipt ledger show april.db receipt_01K0TASK | head -n 1`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Usage("receipt ledger list FILE lists what there is", "expected FILE and the receipt_id of a receipt, found %d", len(args))
			}
			return ledgerFile(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return ledgerShow(cmd.Context(), e, args[0], args[1], show)
		},
	}
}

func ledgerShow(ctx context.Context, e *cli.Env, path, id string, show Shower) error {
	l, err := input.OpenLedger(ctx, path, false)
	if err != nil {
		return err
	}
	defer l.Close()

	sealed, err := l.Get(ctx, id)
	var refutation *receipt.RefutedError
	var pruned *ledger.PrunedError
	switch {
	case errors.As(err, &pruned):
		return prunedFailure(pruned)
	case errors.Is(err, ledger.ErrNotFound):
		return cli.Usage("receipt ledger list "+cli.ShellFile(path)+" lists what there is", "the ledger has no receipt %q", id)
	case errors.As(err, &refutation):
		return cli.Refuted("receipt ledger fsck tells what is damaged", "receipt %q: %w", id, err)
	case err != nil:
		return ledgerReading(err)
	}

	newer, err := successors(ctx, l)
	if err != nil {
		return err
	}
	if by := newer.of(sealed.Document().Root(), sealed.Hash()); by != "" {
		fmt.Fprintf(e.Notes(), "receipt: note: this receipt is superseded by %s\n", cli.EscapeLine(by))
	}
	return show(e, path, sealed.JSON(), "receipt ledger fsck "+cli.ShellFile(path))
}
