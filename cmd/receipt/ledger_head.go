package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newLedgerHead(e *env) *cobra.Command {
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
			l, err := openLedger(cmd.Context(), args[0], false)
			if err != nil {
				return err
			}
			defer l.Close()
			streams, err := l.Streams(cmd.Context())
			if err != nil {
				return ledgerReading(err)
			}
			for _, s := range streams {
				if _, err := fmt.Fprintf(e.out, "%v %d %s\n", s.Head.Hash, s.Head.Count, escapeLine(streamText(s.Stream))); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
