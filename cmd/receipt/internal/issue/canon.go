package issue

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
)

// NewCanon returns the command "receipt canon".
func NewCanon(e *cli.Env) *cobra.Command {
	var preimage, check, hash bool
	cmd := &cobra.Command{
		Use:   "canon [FILE]",
		Short: "write the canonical form (RFC 8785) of a JSON document",
		Long: `Write the RFC 8785 canonical form of a JSON document, without a trailing
newline.

--preimage writes the bytes that the hash of a receipt covers: its canonical
form without /chain/receipt_hash and /signatures. --hash prints their SHA-256. A
document with an integer outside ±9007199254740991 has no hash.`,
		Example: `  receipt canon --preimage receipt.json | sha256sum
  receipt canon receipt.json | receipt canon --check`,
		Args: cli.OptionalFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if preimage && check || preimage && hash || check && hash {
				return cli.Usage("", "--preimage, --check, and --hash exclude each other")
			}

			path := cli.FileArg(args)
			switch {
			case hash:
				return printHash(e, path)
			case preimage:
				return writePreimage(e, path)
			}
			doc, err := input.ReadDocument(e, path)
			if err != nil {
				return err
			}
			if check {
				return checkCanonical(path, doc)
			}
			_, err = e.Out.Write(doc.AppendCanonical(nil))
			return err
		},
	}

	cmd.Flags().BoolVar(&preimage, "preimage", false, "write the bytes that the receipt hash covers")
	cmd.Flags().BoolVar(&check, "check", false, "only exit 1 if the input is not canonical")
	cmd.Flags().BoolVar(&hash, "hash", false, "print the computed receipt hash")
	return cmd
}

func checkCanonical(path string, doc *canon.Document) error {
	if doc.IsCanonical() {
		return nil
	}
	src, canonical := doc.Source(), doc.AppendCanonical(nil)

	// The first difference is reported. A trailing line feed, which is a frequent difference, is
	// reported separately.
	at := 0
	for at < len(src) && at < len(canonical) && src[at] == canonical[at] {
		at++
	}
	if at == len(canonical) && string(src[at:]) == "\n" {
		return cli.Refuted("write the canonical form, without a trailing newline, with receipt canon FILE", "%q is not canonical: it ends with a line feed", cli.SourceName(path))
	}
	return cli.Refuted("write the canonical form with receipt canon FILE", "%q is not canonical: its first difference is at offset %d", cli.SourceName(path), at)
}

func writePreimage(e *cli.Env, path string) error {
	doc, err := input.ReadHashable(e, path)
	if err != nil {
		return err
	}
	text, err := chain.AppendPreimage(nil, doc)
	if err != nil {
		return notReceipt(path, err)
	}
	_, err = e.Out.Write(text)
	return err
}

// NewHash returns the hidden command "receipt hash", the old name of "receipt canon --hash".
func NewHash(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:    "hash [FILE]",
		Short:  "compute the hash of a receipt, as receipt canon --hash does",
		Hidden: true,
		Args:   cli.OptionalFile,
		RunE:   func(cmd *cobra.Command, args []string) error { return printHash(e, cli.FileArg(args)) },
	}
}

// printHash prints the computed hash of a receipt, even if the stated hash differs.
func printHash(e *cli.Env, path string) error {
	doc, err := input.ReadHashable(e, path)
	if err != nil {
		return err
	}
	digest, err := chain.Hash(doc)
	if err != nil {
		return notReceipt(path, err)
	}
	_, err = fmt.Fprintln(e.Out, digest)
	return err
}

// notReceipt describes why a document has no hash.
func notReceipt(path string, err error) error {
	if errors.Is(err, chain.ErrNotObject) {
		return cli.Refuted("specify a receipt of the list: "+cli.ShellName(cli.SourceName(path)+":1"), "%q is not a receipt: a receipt is a JSON object", cli.SourceName(path))
	}
	return cli.Refuted("", "%q: %w", cli.SourceName(path), err)
}
