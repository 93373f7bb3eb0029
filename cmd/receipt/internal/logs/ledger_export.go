package logs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/issue"
)

type ledgerExportOptions struct {
	ledgerRange
	task, session string
	output        string
	force         bool
}

func newLedgerExport(e *cli.Env) *cobra.Command {
	var o ledgerExportOptions
	cmd := &cobra.Command{
		Use:   "export FILE",
		Short: "write the receipts of a ledger",
		Long: `Write receipts as canonical JSON, one a line, or as CBOR to a FILE that ends in
.cborseq, in the order in which they were stored. What a row says of its receipt
must fit; whether the receipts are true is for receipt verify or receipt ledger fsck
to say.`,
		Example: `  receipt ledger export ledger.db -o day.jsonl
  receipt ledger export ledger.db --from 2026-04-25T00:00:00Z --before 2026-04-26T00:00:00Z`,
		Args: onlyLedgerFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), e, args[0])
		},
	}

	f := cmd.Flags()
	f.StringVar(&o.task, "task", "", "only receipts of the task with this `ID`, by subject or identifiers")
	f.StringVar(&o.session, "session", "", "only receipts of the session with this `ID`")
	o.ledgerRange.register(f)
	f.StringVarP(&o.output, "output", "o", "", "write to this `FILE`; its extension says what it holds")
	f.BoolVarP(&o.force, "force", "f", false, "overwrite the output file")
	return cmd
}

func (o *ledgerExportOptions) run(ctx context.Context, e *cli.Env, path string) error {
	l, err := input.OpenLedger(ctx, path, false)
	if err != nil {
		return err
	}
	defer l.Close()

	query, err := o.query(ctx, l)
	if err != nil {
		return err
	}
	query.Task, query.Session = o.task, o.session

	out, err := issue.NewDocumentWriter(e, o.output, []string{".jsonl", ".ndjson", ".cborseq"}, o.force)
	if err != nil {
		return err
	}
	defer out.Discard()

	progress := e.Progress("exporting")
	defer progress.End()
	progress.Pass(0, 0, max(entries(ctx, l, query), 0))

	// One document for all: a ledger may be larger than memory.
	doc := new(canon.Document)
	for entry, err := range l.Scan(ctx, query) {
		if err != nil {
			return ledgerReading(err)
		}
		if err := doc.Parse(entry.JSON, canon.Limits{}); err != nil {
			return cli.Refuted("receipt ledger fsck tells what is damaged", "receipt %q of the ledger is damaged: %w", entry.ID, err)
		}
		if err := out.Put(entry.ID, doc); err != nil {
			return err
		}
		progress.Receipts(1)
	}

	// Who exports a ledger has to know what is not in it.
	if err := tellPruned(ctx, e, l, query, "receipt ledger list --pruned names them and their archives"); err != nil {
		return err
	}
	if out.Count == 0 {
		return out.Output.Commit() // a day without receipts is not a mistake
	}
	return out.Commit()
}
