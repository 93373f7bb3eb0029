package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/chain"
)

func newHash(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "hash [FILE]",
		Short: "compute the hash of a receipt",
		Long: `Compute the hash of a receipt or draft, whatever hash it states: the SHA-256 of
its canonical form without /chain/receipt_hash and /signatures. A document with an
integer outside ±9007199254740991 has none.`,
		Example: `  receipt hash receipt.json
  receipt hash - < receipt.json`,
		Args: optionalFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			doc, err := readHashable(e, fileArg(args))
			if err != nil {
				return err
			}
			digest, err := chain.Hash(doc)
			if err != nil {
				return notReceipt(fileArg(args), err)
			}
			_, err = fmt.Fprintln(e.out, digest)
			return err
		},
	}
}

// notReceipt words why a document has no hash.
func notReceipt(path string, err error) error {
	if errors.Is(err, chain.ErrNotObject) {
		return refuted("", "%q is no receipt: a receipt is a JSON object", sourceName(path))
	}
	return refuted("", "%q: %w", sourceName(path), err)
}
