package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
)

func newVersion(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version of this program",
		Long:  "Print the version of this program, of Go, and of the receipt format it knows.",
		Example: `  receipt version
  receipt version | head -n 1`,
		Args: cli.ExactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := fmt.Fprintf(e.Out, "%s\n%s %s/%s\n%s\n", cli.ToolName(), runtime.Version(), runtime.GOOS, runtime.GOARCH, receipt.SchemaMarker)
			return err
		},
	}
}
