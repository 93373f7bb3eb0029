package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/serve/page"
)

func newVersion(e *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version of this program",
		Long: `Print the version of this program, of Go, and of the receipt format it knows, and
whether this program has the verification page that receipt serve shows.`,
		Example: `  receipt version
  receipt version | head -n 1`,
		Args: cli.ExactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, err := io.WriteString(e.Out, versionText())
			return err
		},
	}
}

// pageBuilt says whether the page is there, and how it gets there.
func pageBuilt() string {
	if page.Built() {
		return "built in"
	}
	return "not built in (in a checkout: go generate ./receipt/serve/page, then go install ./cmd/receipt)"
}

// platform is what the program was built with and for, the format it knows, and whether
// it has the page.
func platform() string {
	return fmt.Sprintf("%s %s/%s\n%s\nverification page: %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, receipt.SchemaMarker, pageBuilt())
}
