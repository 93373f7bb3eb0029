package issue

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
)

// NewHash makes the verb hash.
func NewHash(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "hash [FILE]",
		Short: "compute the hash of a receipt",
		Long: `Compute the hash of a receipt or draft, whatever hash it states: the SHA-256 of
its canonical form without /chain/receipt_hash and /signatures. A document with an
integer outside ±9007199254740991 has none.`,
		Example: `  receipt hash receipt.json
  receipt hash - < receipt.json`,
		Args: cli.OptionalFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			doc, err := input.ReadHashable(e, cli.FileArg(args))
			if err != nil {
				return err
			}
			digest, err := chain.Hash(doc)
			if err != nil {
				return notReceipt(cli.FileArg(args), err)
			}
			_, err = fmt.Fprintln(e.Out, digest)
			return err
		},
	}
}

// notReceipt words why a document has no hash.
func notReceipt(path string, err error) error {
	if errors.Is(err, chain.ErrNotObject) {
		return cli.Refuted("of a list, name one: "+cli.ShellName(cli.SourceName(path)+":1"), "%q is not a receipt: a receipt is a JSON object", cli.SourceName(path))
	}
	return cli.Refuted("", "%q: %w", cli.SourceName(path), err)
}
