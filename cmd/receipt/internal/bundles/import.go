package bundles

import (
	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/bundle"
)

type importOptions struct {
	outFlags
	markerFlags
}

func newImport(e *cli.Env) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "get the run record out of a session bundle",
		Long: `Write the run record of a session bundle: the one that is embedded, or the smallest
one that replays, made of its replay fixture and its transcript. Nothing that it
names is looked at.

Exit codes: 0 when there is one, 1 when the file is no bundle or a text in it looks
like a secret, 2 when it could not be read, 3 when there is nothing to import.`,
		Example: `  receipt bundle import bundle.json -o imported.json
  receipt bundle import local-bundle.json --allow-unsafe-secret-markers`,
		Args: cli.ExactArgs(1, "one session bundle"),
		RunE: func(_ *cobra.Command, args []string) error {
			markers, err := o.markers()
			if err != nil {
				return err
			}
			if err := o.mayWrite(); err != nil {
				return err
			}

			defer e.Progress("importing").End()
			b, err := read(e, args[0])
			if err != nil {
				return err
			}
			text, err := bundle.Import(b, markers)
			if err != nil {
				return failure(args[0], aBundle, err)
			}
			return o.write(e, text)
		},
	}
	o.markerFlags.register(cmd.Flags())
	o.outFlags.register(cmd.Flags())
	return cmd
}
