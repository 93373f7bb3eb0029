package logs

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/issue"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

type ledgerIssueOptions struct {
	input.Flags
	key         trust.KeyFlags
	unsigned    bool
	keepSecrets bool
}

func newLedgerIssue(e *cli.Env) *cobra.Command {
	var o ledgerIssueOptions
	cmd := &cobra.Command{
		Use:   "issue FILE [DRAFT…]",
		Short: "make receipts of drafts and store them",
		Long: `Make receipts of drafts, one after another: link each to the head of its stream,
seal it, sign it with --key, and store it. Each receipt is printed when it is
stored durably, as canonical JSON on a line of its own.

A draft that is stored already, with the same receipt_id and content, is not issued
again; its receipt is printed. So whoever does not know how a run ended repeats it.
A draft that seems to hold secrets ends the run.

--unsigned stores receipts that nobody vouches for yet; receipt ledger sign adds
signatures to them.`,
		Example: `  receipt ledger issue ledger.db draft.json --key issuer.private.json
  receipt ledger issue ledger.db --key issuer.private.json - <draft.json`,
		Args: ledgerFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), e, args[0], args[1:])
		},
	}

	o.Flags.Register(cmd.Flags())
	o.key.Add(cmd)
	cmd.Flags().BoolVar(&o.unsigned, "unsigned", false, "do not sign the receipts")
	cmd.Flags().BoolVar(&o.keepSecrets, "keep-secrets", false, "issue drafts that seem to hold secrets")
	return cmd
}

func (o *ledgerIssueOptions) run(ctx context.Context, e *cli.Env, path string, drafts []string) error {
	selected, err := o.Selected(e, drafts)
	if err != nil {
		return err
	}

	var signer receipt.Signer
	signed, err := o.key.Given()
	if err != nil {
		return err
	}

	switch {
	case signed && o.unsigned:
		return cli.Usage("", "--key signs, --unsigned does not: give one of them")
	case !signed && !o.unsigned:
		return cli.Usage("receipt keys generate makes a key; --unsigned stores receipts that nobody vouches for", "--key is missing")
	case signed:
		key, err := o.key.Open(ctx, e)
		if err != nil {
			return err
		}
		signer = key.Signer()
	}

	l, err := input.OpenLedger(ctx, path, true)
	if err != nil {
		return err
	}
	defer l.Close()

	// A receipt is printed when it is stored: whoever has read it can rely on it.
	issuer := &ledger.Issuer{Store: l, Signer: signer, Unsigned: o.unsigned, KeepSecrets: o.keepSecrets}
	progress := selected.Begin(e, "issuing")
	defer progress.End()
	err = selected.Each(ctx, o.Long, func(d *stream.Document) error {
		if err := input.RefuseOther(d, "draft"); err != nil {
			return err
		}
		sealed, err := issuer.IssueDocument(ctx, d.Document)
		if err != nil {
			return issueFailure(d.Address(), err)
		}
		_, err = e.Out.Write(append(sealed.JSON(), '\n'))
		return err
	})
	if err != nil {
		return err
	}

	selected.TellSkipped(e)
	return nil
}

func issueFailure(address string, err error) error {
	var invalid *receipt.InvalidError
	var secrets *ledger.SecretsError
	var unknown *ledger.UnknownOutcomeError
	var pruned *ledger.PrunedError
	switch {
	case errors.As(err, &pruned):
		return prunedFailure(pruned)
	case errors.As(err, &invalid):
		return issue.SealFailure(address, err)
	case errors.As(err, &secrets):
		text := fmt.Sprintf("%q seems to hold secrets", address)
		for i, f := range secrets.Findings {
			if i == 10 {
				text += fmt.Sprintf("\n  and %d more", len(secrets.Findings)-i)
				break
			}
			text += fmt.Sprintf("\n  %s at %s", f.Rule, cli.EscapeLine(f.Pointer))
		}
		return cli.Refuted("receipt redact withholds them; --keep-secrets issues the draft as it is", "%s", text)
	case errors.Is(err, ledger.ErrDuplicateID):
		return cli.Refuted("a receipt_id is never used again: give the draft another one", "%s: %q: its receipt_id is taken by a receipt with another content", receipt.CodeDuplicateID, address)
	case errors.Is(err, ledger.ErrUnsigned):
		return cli.Refuted("receipt ledger sign adds a signature", "%s: %q: its receipt is stored already, and is not signed", receipt.CodeUnsigned, address)
	case errors.As(err, &unknown) && errors.Is(err, context.Canceled):
		return cli.Usage("run the same command again: what is stored is not issued twice", "interrupted; whether %q is stored is not known", address)
	case errors.As(err, &unknown):
		return cli.Usage("run the same command again: what is stored is not issued twice", "%q: %w", address, unknown.Err)
	}

	return cli.Usage("", "%q: %w", address, err)
}
