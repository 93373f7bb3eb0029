package logs

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

type ledgerCheckpointOptions struct {
	ledgerRange
	logFlags
}

func newLedgerCheckpoint(e *cli.Env) *cobra.Command {
	var o ledgerCheckpointOptions
	cmd := &cobra.Command{
		Use:   "checkpoint FILE --key KEY --origin NAME",
		Short: "sign a checkpoint over the receipts of a ledger",
		Long: `Sign a checkpoint (C2SP tlog-checkpoint) over the receipts of a ledger, as receipt
batch checkpoint does over files: the root of the RFC 9162 tree whose leaves are
their hashes, in the order in which they were stored. Receipts are only ever stored
after the others, so that each checkpoint extends those before it; --extends makes
sure of that, and finds a ledger that was replaced by another one.

The content of each receipt and its link are verified first; of signatures that is
for receipt ledger fsck.

--stream, --from and --before choose a part: a log of its own, which needs an origin
of its own. receipt ledger prove and consistency have to be given the same part, and
receipt ledger export writes it for receipt verify --checkpoint. --until TIME chooses the
beginning of the ledger, up to the first receipt that was issued then or later: a
checkpoint over it is one of the same log, and receipt ledger prune takes it.`,
		Example: `  receipt ledger checkpoint april.db --key log.private.json --origin log.example.net/receipts -o checkpoint.txt
  receipt ledger checkpoint april.db --key log.private.json --origin log.example.net/receipts --extends week.txt`,
		Args: onlyLedgerFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return fromLedger(cmd.Context(), args[0], &o.ledgerRange, func(choose chooser) error {
				return o.checkpoint(cmd.Context(), e, choose, false)
			})
		},
	}

	o.logFlags.add(cmd)
	o.ledgerRange.register(cmd.Flags())
	return cmd
}

type ledgerProveOptions struct {
	ledgerRange
	proveFlags
}

func newLedgerProve(e *cli.Env) *cobra.Command {
	var o ledgerProveOptions
	cmd := &cobra.Command{
		Use:   "prove FILE --checkpoint FILE --receipt ID|FILE",
		Short: "prove that a receipt is under a checkpoint",
		Long: `Write the proof (C2SP tlog-proof) that a receipt is under a checkpoint over the
ledger, as receipt batch prove does it. It holds the checkpoint itself, so receipt,
proof and key are all that verify --proof needs.

A checkpoint over a part of the ledger needs the flags that name the part.`,
		Example: `  receipt ledger prove april.db --checkpoint april.txt --receipt receipt_01K0TASK -o receipt.tlog-proof
  receipt ledger prove april.db --checkpoint week.txt --receipt receipt.json`,
		Args: onlyLedgerFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return fromLedger(cmd.Context(), args[0], &o.ledgerRange, func(choose chooser) error {
				return o.prove(cmd.Context(), e, choose, false)
			})
		},
	}

	o.proveFlags.register(cmd.Flags())
	o.ledgerRange.register(cmd.Flags())
	return cmd
}

type ledgerConsistencyOptions struct {
	part ledgerRange
	extensionFlags
}

func newLedgerConsistency(e *cli.Env) *cobra.Command {
	var o ledgerConsistencyOptions
	cmd := &cobra.Command{
		Use:   "consistency FILE --from-checkpoint OLD --to-checkpoint NEW",
		Short: "prove that a checkpoint extends an earlier one",
		Long: `Write the proof that a checkpoint over the ledger extends an earlier one: that the
ledger has only added to its receipts. Whoever has both checkpoints checks it with
receipt batch consistency --check PROOF, without the receipts.

Checkpoints over a part of the ledger need the flags that name the part.`,
		Example: `  receipt ledger consistency april.db --from-checkpoint week.txt --to-checkpoint april.txt -o consistency.txt
  receipt ledger consistency april.db --from-checkpoint week.txt --to-checkpoint april.txt`,
		Args: onlyLedgerFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.from == "" || o.to == "" {
				return cli.Usage("receipt ledger consistency --help shows examples", "--from-checkpoint OLD and --to-checkpoint NEW are both needed")
			}
			return fromLedger(cmd.Context(), args[0], &o.part, func(choose chooser) error {
				return o.prove(cmd.Context(), e, choose, false)
			})
		},
	}

	o.extensionFlags.register(cmd.Flags(), "-checkpoint")
	o.part.register(cmd.Flags())
	return cmd
}

// fromLedger lets a verb that reads receipts read those of a ledger.
func fromLedger(ctx context.Context, path string, part *ledgerRange, verb func(chooser) error) error {
	// It is opened when the verb asks for its receipts, after its flags were checked.
	var l *ledger.SQLite
	defer func() {
		if l != nil {
			l.Close()
		}
	}()

	var damage error // that ended the reading, which knows of it as text only
	err := verb(func() (_ *meant, err error) {
		if l, err = input.OpenLedger(ctx, path, false); err != nil {
			return nil, err
		}
		return part.selection(ctx, path, l, &damage)
	})

	if err != nil && damage != nil {
		return ledgerReading(damage)
	}
	return err
}
