package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
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

// readHashable reads one document whose hash tells it from every other. Where an
// integer is lossy, others with another integer in its place have the same.
func readHashable(e *env, path string) (*canon.Document, error) {
	doc, err := readDocument(e, path)
	if err != nil {
		return nil, err
	}
	if n, found := doc.LossyInteger(); found {
		return nil, refuted("issuers write such values as strings", "%q: number_precision: expected integers within ±9007199254740991, found %.40s at %.80q",
			sourceName(path), n.Raw(), n.Pointer())
	}
	return doc, nil
}

// notReceipt words why a document has no hash.
func notReceipt(path string, err error) error {
	if errors.Is(err, chain.ErrNotObject) {
		return refuted("", "%q is no receipt: a receipt is a JSON object", sourceName(path))
	}
	return refuted("", "%q: %w", sourceName(path), err)
}

// syntaxFailure words a parse error: the input is refuted, not unreadable.
func syntaxFailure(path string, err error) error {
	hint := ""
	var syntax *canon.SyntaxError
	if errors.As(err, &syntax) {
		hint = syntax.Hint
	}
	return refuted(hint, "%q: %w", sourceName(path), err)
}
