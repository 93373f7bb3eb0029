package logs

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
)

func newLedgerHead(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "head FILE",
		Short: "the heads of a ledger's streams",
		Long: `Print the head of each stream, the hash of its last receipt, a line each: hash,
number of receipts, stream. Kept elsewhere, it shows later that nothing was cut off:
receipt ledger fsck --expect-head HASH, receipt verify --expect-head HASH.`,
		Example: `  receipt ledger head ledger.db
  receipt ledger head ledger.db >heads.txt`,
		Args: onlyLedgerFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := input.OpenLedger(cmd.Context(), args[0], false)
			if err != nil {
				return err
			}
			defer l.Close()

			streams, err := l.Streams(cmd.Context())
			if err != nil {
				return ledgerReading(err)
			}

			for _, s := range streams {
				if _, err := fmt.Fprintf(e.Out, "%v %d %s\n", s.Head.Hash, s.Head.Count, cli.EscapeLine(input.StreamText(s.Stream))); err != nil {
					return err
				}
			}

			return nil
		},
	}
}
