// Package logs contains the commands for stored sets of receipts: batch, ledger, and timestamp.
package logs

import (
	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// NewBatch returns the command "receipt batch".
func NewBatch(e *cli.Env) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "batch COMMAND",
		Short: "seal batches, sign checkpoints, and create proofs",
		Long: `A checkpoint covers the hashes of sealed receipts, and a proof shows that it
covers one of them. In a batch of the content profile, each receipt states the
root in chain.merkle_root, and a manifest lists them.`,
		Example: `  receipt batch checkpoint receipts.jsonl --key log.private.json --origin log.example.net/receipts -o checkpoint.txt
  receipt batch prove receipts.jsonl --checkpoint checkpoint.txt --receipt receipt.json -o receipt.tlog-proof`,
	}, newSeal(e), newCheckpoint(e, false), newCosign(e), newProve(e, false), newConsistency(e, false))
}
