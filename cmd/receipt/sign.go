package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/receipt"
)

func newSign(e *env) *cobra.Command {
	var key keyFlags
	var output string
	var force bool
	cmd := &cobra.Command{
		Use:   "sign FILE --key KEY",
		Short: "add a signature to a sealed receipt",
		Long: `Add a signature to a sealed receipt, as its issuer or as a witness. The schema and
the hash are checked first: nothing false is ever signed. The hash does not
change; signatures lie outside it.

KEY is a private JWK as receipt keys generate writes it, or a private key in PEM,
whose id then is given by --key-id.`,
		Example: `  receipt sign receipt.json --key witness.private.json -o witnessed.json
  receipt sign - --key issuer.pem --key-id key_1 < receipt.json`,
		Args: exactArgs(1, "one receipt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if key.path == "" {
				return usage("receipt keys generate makes a key", "--key is missing")
			}
			data, err := readInput(e, args[0])
			if err != nil {
				return err
			}
			sealed, err := receipt.ParseSealed(data)
			if err != nil {
				return unsignable(args[0], err)
			}
			if sealed, err = key.sign(cmd.Context(), e, sealed); err != nil {
				return err
			}
			return writeOutput(e, output, append(sealed.JSON(), '\n'), 0o644, force)
		},
	}
	key.add(cmd)
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this `FILE`")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite the output file")
	return cmd
}

// unsignable words why a document must not be signed, with its report's exit.
func unsignable(path string, err error) error {
	var undecided *receipt.UndecidedError
	if errors.As(err, &undecided) {
		return &failure{exitUndecided, fmt.Errorf("%q cannot be signed: %w", sourceName(path), err), ""}
	}
	return refuted("receipt verify --integrity-only shows all of it", "%q must not be signed: %w", sourceName(path), err)
}
