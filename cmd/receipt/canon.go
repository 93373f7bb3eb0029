package main

import (
	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
)

func newCanon(e *env) *cobra.Command {
	var preimage, check bool
	cmd := &cobra.Command{
		Use:   "canon [FILE]",
		Short: "write the canonical form (RFC 8785) of a JSON document",
		Long: `Write the RFC 8785 canonical form of any JSON document, without a newline.

With --preimage, write the bytes that a receipt's hash covers: its canonical
form without /chain/receipt_hash and /signatures. Their SHA-256 is the hash.`,
		Example: `  receipt canon --preimage receipt.json | sha256sum
  receipt canon receipt.json | receipt canon --check`,
		Args: optionalFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if preimage && check {
				return usage("", "--preimage and --check exclude each other")
			}
			read := readDocument
			if preimage {
				read = readHashable
			}
			doc, err := read(e, fileArg(args))
			if err != nil {
				return err
			}
			switch {
			case check:
				return checkCanonical(fileArg(args), doc)
			case preimage:
				return writePreimage(e, fileArg(args), doc)
			}
			return writeOutput(e, "", doc.AppendCanonical(nil), 0, false)
		},
	}
	cmd.Flags().BoolVar(&preimage, "preimage", false, "write the bytes that the receipt hash covers")
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; exit 1 when the input is not canonical")
	return cmd
}

func checkCanonical(path string, doc *canon.Document) error {
	if doc.IsCanonical() {
		return nil
	}
	src, canonical := doc.Source(), doc.AppendCanonical(nil)
	at := 0
	for at < len(src) && at < len(canonical) && src[at] == canonical[at] {
		at++
	}
	return refuted("receipt canon FILE writes the canonical form", "%q is not canonical: its first difference is at offset %d", sourceName(path), at)
}

func writePreimage(e *env, path string, doc *canon.Document) error {
	text, err := chain.AppendPreimage(nil, doc)
	if err != nil {
		return notReceipt(path, err)
	}
	return writeOutput(e, "", text, 0, false)
}
