package logs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/issue"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

type ledgerExportOptions struct {
	ledgerRange
	checkpoint string
	output     cli.OutputFlags
}

func newLedgerExport(e *cli.Env) *cobra.Command {
	o := new(ledgerExportOptions)
	cmd := &cobra.Command{
		Use:   "export [FILE]",
		Short: "write the receipts of a ledger",
		Long: `Write receipts in stored order as canonical JSON, one per line, or as CBOR to a
FILE that ends in .cborseq. Receipts are not verified.

With --checkpoint, write the receipts that a checkpoint of the ledger covers,
without checking its signature. Pruned receipts are counted on stderr.`,
		Example: `  receipt ledger export ledger.db -o day.jsonl
  receipt ledger export ledger.db --from 2026-04-25T00:00:00Z --before 2026-04-26T00:00:00Z`,
		Args: onlyLedgerFile,
		RunE: onLedger(e, o.run),
	}

	f := cmd.Flags()
	o.registerIDs(f)
	o.ledgerRange.register(f, "from")
	f.StringVar(&o.checkpoint, "checkpoint", "", "only the receipts that this checkpoint covers (`FILE`)")
	o.output.Register(f, "output (`FILE`)")
	return cmd
}

func (o *ledgerExportOptions) run(ctx context.Context, e *cli.Env, l ledger.Database, _ []string) error {
	query, err := o.query(ctx, l)
	if err != nil {
		return err
	}

	first, err := o.under(ctx, e, l)
	if err != nil {
		return err
	}

	out, err := issue.NewDocumentWriter(e, &o.output, ".jsonl", ".ndjson", ".cborseq")
	if err != nil {
		return err
	}
	defer out.Discard()

	progress := e.Progress("exporting")
	defer progress.End()
	progress.Pass(0, 0, max(entries(ctx, l, query), 0))

	// One document is reused, because a ledger may be larger than memory.
	doc := new(canon.Document)
	query.Pruned = first != nil // the checkpoint also covers pruned receipts
	for entry, err := range l.Walk(ctx, query, 0) {
		if err != nil {
			return input.LedgerReading(err)
		}
		if !first.add(&entry) {
			break
		}

		// Pruned receipts come first. If a pruned receipt appears later, another process is pruning
		// the ledger.
		if entry.JSON == nil {
			if out.Count > 0 {
				return input.LedgerReading(ledger.ErrPruneChanged)
			}
			continue
		}
		if err := doc.Parse(entry.JSON, canon.Limits{}); err != nil {
			return cli.Refuted("list the damage with receipt ledger fsck", "receipt %q of the ledger is damaged: %w", entry.ID, err)
		}
		if err := out.Put(entry.ID, doc); err != nil {
			return err
		}
		progress.Receipts(1)
	}

	if err := first.whole(); err != nil {
		return err
	}

	// The number of pruned receipts is reported, because the export does not contain these
	// receipts.
	if err := tellPruned(ctx, e, l, query, "receipt ledger list --pruned names them and their archives"); err != nil {
		return err
	}
	if out.Count == 0 {
		return out.Output.Commit() // a day without receipts is not an error
	}
	return out.Commit()
}

// under reads the checkpoint that must cover the receipts. Without --checkpoint, it returns nil.
func (o *ledgerExportOptions) under(ctx context.Context, e *cli.Env, l ledger.Database) (*firsts, error) {
	if o.checkpoint == "" {
		return nil, nil
	}
	if o.ledgerRange != (ledgerRange{}) {
		return nil, cli.Usage("for a checkpoint of a part, use the flags that selected the part", "--checkpoint selects the receipts, so it excludes --task, --session, --stream, --from, --before, and --until")
	}

	head, err := trust.ReadHead(e, o.checkpoint, nil)
	if err != nil {
		return nil, err
	}
	if _, err := ledger.Prunings(ctx, l); err != nil {
		return nil, input.LedgerReading(err)
	}

	return &firsts{head: head}, nil
}

// A firsts value builds the tree of the receipts that a checkpoint covers, in order. A nil value
// means that there is no checkpoint and no limit.
type firsts struct {
	head *trust.Head
	tree merkle.Tree
}

// add appends the next receipt, and reports whether the checkpoint covers it.
func (f *firsts) add(e *ledger.Row) (more bool) {
	if f == nil {
		return true
	}
	if f.tree.Size() == f.head.Size {
		return false
	}
	f.tree.Append(receipt.CheckpointLeaf(e.Hash))
	return true
}

// whole returns an error unless the added receipts are exactly those that the checkpoint covers.
func (f *firsts) whole() error {
	switch {
	case f == nil:
		return nil
	case f.tree.Size() < f.head.Size:
		return f.head.TooLarge(f.tree.Size())
	}
	return f.head.CheckRoot(f.tree.Root())
}
