package logs

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/issue"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

type ledgerImportOptions struct {
	input.Flags
	trust.PolicyFlags
}

func newLedgerImport(e *cli.Env) *cobra.Command {
	var o ledgerImportOptions
	cmd := &cobra.Command{
		Use:   "import [FILE [PATH…]]",
		Short: "store receipts that were issued elsewhere",
		Long: `Store receipts that were issued elsewhere, in input order. Each receipt must be
verified, and follow the last receipt of its stream in the ledger. The first
receipt that is not accepted ends the import, which can be repeated.`,
		Example: `  receipt ledger import ledger.db receipt.json --keys keys.json
  receipt ledger import ledger.db --integrity-only - <receipt.json`,
		Args: ledgerFile,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), e, args[0], args[1:]) },
	}

	o.Flags.Register(cmd.Flags())
	o.PolicyFlags.Register(cmd.Flags())
	return cmd
}

func (o *ledgerImportOptions) run(ctx context.Context, e *cli.Env, path string, inputs []string) error {
	selected, err := o.Selected(e, inputs)
	if err != nil {
		return err
	}

	v, _, err := o.Verifier(e)
	if err != nil {
		return err
	}

	// The inputs and the keys are selected before the ledger is opened for writing.
	l, err := input.OpenLedger(ctx, e, path, true)
	if err != nil {
		return err
	}
	defer l.Close()

	progress := selected.Begin(e, "importing")
	defer progress.End()
	var found addresses
	count, err := ledger.Import(ctx, l, v, documents(ctx, selected, o.Long, &found))

	// Receipts before a failure are already stored, so their number is printed in any case.
	pruned := ""
	if count.Pruned > 0 {
		pruned = fmt.Sprintf(", %s pruned before", cli.Count(count.Pruned))
	}
	fmt.Fprintf(e.Out, "imported     %s, %d there already%s\n", cli.Plural(count.Stored, "receipt", ""), count.Copies, pruned)

	var failed *ledger.ImportError
	if errors.As(err, &failed) {
		return importFailure(found.of(failed.Index), failed.Err)
	}

	var damage *ledger.Fault
	if errors.As(err, &damage) {
		return input.LedgerReading(err)
	}
	if err != nil {
		return err
	}
	selected.TellSkipped(e)
	return nil
}

// An addresses value contains the addresses of the most recent documents. It has room for more
// addresses than the number of documents that an import stores at a time.
type addresses struct {
	last  [1024]string
	count int
}

func (a *addresses) add(address string) {
	a.last[a.count%len(a.last)] = address
	a.count++
}

// place returns the address of document n, or describes it by its number if the address is unknown.
func (a *addresses) place(n uint64) string {
	if n == 0 || n > uint64(a.count) {
		return fmt.Sprintf("receipt %s of the archive", cli.Count(int(n)))
	}
	return fmt.Sprintf("%q", a.of(int(n)))
}

// of returns the address of document n, counted from 1.
func (a *addresses) of(n int) string { return a.last[(n-1)%len(a.last)] }

// documents returns the receipts of the inputs.
func documents(ctx context.Context, s *input.Selection, long bool, found *addresses) iter.Seq2[[]byte, error] {
	// The method Each stops early only if its callback returns an error.
	return func(yield func([]byte, error) bool) {
		stopped := errors.New("stopped")
		err := s.Each(ctx, long, func(d *stream.Document) error {
			found.add(d.Address())
			if !yield(d.Document.Source(), nil) {
				return stopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, stopped) {
			yield(nil, err)
		}
	}
}

func importFailure(address string, err error) error {
	var refutation *receipt.RefutedError
	var undecided *receipt.UndecidedError
	hint := "for details, run receipt verify"
	switch {
	case errors.As(err, &refutation):
		f := refutation.Report.Finding()
		return cli.Refuted(hint, "%q: refuted, %s: %s", address, f.Code, f.Detail)
	case errors.As(err, &undecided):
		f := undecided.Report.Finding()
		return cli.Undecided(hint, "%q: undecided, %s: %s", address, f.Code, f.Detail)
	case errors.Is(err, ledger.ErrDuplicateID):
		return cli.Refuted("", "%s: %q: its receipt_id belongs to another receipt", receipt.CodeDuplicateID, address)
	case errors.Is(err, ledger.ErrFork):
		return cli.Refuted("ask the issuer which receipt is correct; receipt ledger export prints the ledger's", "%s: %q: %w", receipt.CodeChainFork, address, err)
	case errors.Is(err, ledger.ErrGap):
		return cli.Refuted("", "%s: %q: %w", receipt.CodeChainBreak, address, err)
	}

	return cli.Usage("", "%q: %w", address, err)
}

type ledgerIssueOptions struct {
	input.Flags
	key         trust.KeyFlags
	unsigned    bool
	keepSecrets bool
}

func newLedgerIssue(e *cli.Env) *cobra.Command {
	var o ledgerIssueOptions
	cmd := &cobra.Command{
		Use:   "issue [FILE [DRAFT…]]",
		Short: "convert drafts to receipts, and store them",
		Long: `Convert drafts to receipts, one after another: link each to the head of its
stream, seal it, sign it with --key, and store it. Each stored receipt is
printed as one line of canonical JSON. A run can be repeated. A draft that seems
to contain secrets ends the run.`,
		Example: `  receipt ledger issue ledger.db draft.json --key issuer.private.json
  receipt ledger issue ledger.db --key issuer.private.json - <draft.json`,
		Args: ledgerFile,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), e, args[0], args[1:]) },
	}

	o.Flags.Register(cmd.Flags())
	o.key.Add(cmd)
	cmd.Flags().BoolVar(&o.unsigned, "unsigned", false, "do not sign the receipts")
	cmd.Flags().BoolVar(&o.keepSecrets, "keep-secrets", false, "issue drafts that seem to contain secrets")
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
		return cli.Usage("", "--key and --unsigned exclude each other")
	case !signed && !o.unsigned:
		return cli.Usage("generate a key with receipt keys generate, or store unsigned receipts with --unsigned", "missing --key KEY")
	case signed:
		key, err := o.key.Open(ctx, e)
		if err != nil {
			return err
		}
		signer = key
	}

	l, err := input.OpenLedger(ctx, e, path, true)
	if err != nil {
		return err
	}
	defer l.Close()

	// A receipt is printed only after it is stored, so that readers can rely on it.
	issuer := &ledger.Issuer{Store: l, Signer: signer, Unsigned: o.unsigned, KeepSecrets: o.keepSecrets}
	progress := selected.Begin(e, "issuing")
	defer progress.End()
	err = selected.Each(ctx, o.Long, func(d *stream.Document) error {
		if err := input.RefuseOther(d, "draft"); err != nil {
			return err
		}
		sealed, err := issuer.Issue(ctx, d.Document)
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
	failed, _ := errors.AsType[*ledger.IssueError](err)
	unknown := failed != nil && failed.Stored == ledger.StoredUnknown
	var pruned *ledger.PrunedError
	switch {
	case errors.As(err, &pruned):
		return prunedFailure(pruned)
	case errors.As(err, &invalid):
		return issue.SealFailure(address, err)
	case errors.As(err, &secrets):
		text := fmt.Sprintf("%q seems to contain secrets", address)
		for i, f := range secrets.Findings {
			if i == 10 {
				text += fmt.Sprintf("\n  and %d more", len(secrets.Findings)-i)
				break
			}
			text += fmt.Sprintf("\n  %s at %s", f.Rule, cli.EscapeLine(f.Pointer))
		}
		return cli.Refuted("withhold them with receipt redact, or issue the draft unchanged with --keep-secrets", "%s", text)
	case errors.Is(err, ledger.ErrDuplicateID):
		return cli.Refuted("use another receipt_id for the draft, because IDs are never reused", "%s: %q: its receipt_id belongs to a receipt with different content", receipt.CodeDuplicateID, address)
	case errors.Is(err, ledger.ErrUnsigned):
		return cli.Refuted("add a signature with receipt ledger sign", "%s: %q: its receipt is already stored, but not signed", receipt.CodeUnsigned, address)
	case unknown && errors.Is(err, context.Canceled):
		return cli.Usage("repeat the command; stored receipts are not issued twice", "interrupted; it is unknown whether %q is stored", address)
	case unknown:
		return cli.Usage("repeat the command; stored receipts are not issued twice", "%q: %w", address, failed.Err)
	}

	return cli.Usage("", "%q: %w", address, err)
}
