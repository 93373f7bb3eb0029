package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/schemas"
)

func newSchema(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [NAME]",
		Short: "write one of the built-in JSON Schemas",
		Long: `Write a built-in JSON Schema (draft 2020-12). Without a name, list the names.
Formats are meant to be asserted.`,
		Example: `  receipt schema
  receipt schema receipt-2026-04-25`,
		ValidArgsFunction: func(*cobra.Command, []string, string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
			for _, n := range schemas.Names() {
				list = append(list, string(n))
			}
			return list, cobra.ShellCompDirectiveNoFileComp
		},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usage("", "expected one name, found %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, n := range schemas.Names() {
					if _, err := fmt.Fprintln(e.Out, n); err != nil {
						return err
					}
				}
				return nil
			}
			text, ok := schemas.Source(schemas.Name(args[0]))
			if !ok {
				return cli.Usage("receipt schema lists the names", "unknown schema %q", args[0])
			}
			return cli.WriteOutput(e, "", text, 0, false)
		},
	}
}
