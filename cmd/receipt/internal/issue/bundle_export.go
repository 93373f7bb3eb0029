package issue

import (
	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/bundle"
)

type bundleExport struct {
	bundle.Options
	output            cli.OutputFlags
	local, replayOnly bool
}

func newBundleExport(e *cli.Env) *cobra.Command {
	var o bundleExport
	cmd := &cobra.Command{
		Use:   "export RUN",
		Short: "create a session bundle from a run record",
		Long: `Create a session bundle from a run record. Secrets, paths of the machine, and
strings that look like secrets are replaced, and each place is listed in the
bundle. The same record and flags produce the same bytes.`,
		Example: `  receipt bundle export run.json -o bundle.json
  receipt bundle export run.json --replay-only --strict`,
		Args: cli.ExactArgs(1, "one run record"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case o.local && o.replayOnly:
				return cli.Usage("", "--local and --replay-only exclude each other")
			case o.Strict && !o.replayOnly:
				return cli.Usage("", "--strict requires --replay-only")
			case o.local:
				o.Mode = bundle.Local
			case o.replayOnly:
				o.Mode = bundle.ReplayOnly
			}

			// Only the format is checked. The bundle contains the time exactly as it was given.
			if o.CreatedAt != "" {
				if _, err := receipt.ParseTime(o.CreatedAt); err != nil {
					return cli.Usage("", "--created-at %q: %w", o.CreatedAt, err)
				}
			}
			return o.export(e, args[0])
		},
	}

	f := cmd.Flags()
	f.BoolVar(&o.local, "local", false, "remove nothing")
	f.BoolVar(&o.replayOnly, "replay-only", false, "also withhold prompts, arguments, and results")
	f.BoolVar(&o.Strict, "strict", false, "with --replay-only: also withhold outputs and absolute paths")
	f.BoolVar(&o.Attachments, "include-attachments", false, "list the artifacts of the run as attachments")
	f.StringVar(&o.ID, "id", "", "bundle ID (default: derived from the run record) (`ID`)")
	f.StringVar(&o.CreatedAt, "created-at", "", "time of creation (default: when the run ended) (`TIME`)")
	o.output.Register(f, "output (`FILE`)")
	return cmd
}

func (o *bundleExport) export(e *cli.Env, path string) error {
	return makeBundle(e, "exporting", &o.output, func() (*bundle.Text, error) {
		data, err := input.ReadBounded(e, path, bundle.MaxBytes+1)
		if err != nil {
			return nil, err
		}
		// The bundle records the producer, so a different version of this program may write different
		// bytes.
		o.Producer = bundle.Producer{Name: "receiptkit", Version: cli.ToolVersion()}
		text, err := bundle.Export(data, o.Options)
		return text, stays(path, aRun, err)
	})
}

func newBundleSanitize(e *cli.Env) *cobra.Command {
	var output cli.OutputFlags
	mode, strict := string(bundle.Sanitized), false
	cmd := &cobra.Command{
		Use:   "sanitize FILE",
		Short: "remove data from a session bundle",
		Long: `Remove the data that a mode excludes from a session bundle, and list each removal
in the bundle. A replay_only bundle cannot be converted to a sanitized one.`,
		Example: `  receipt bundle sanitize local-bundle.json -o bundle.json
  receipt bundle sanitize local-bundle.json --mode replay_only --strict`,
		Args: cli.ExactArgs(1, "one session bundle"),
		RunE: func(_ *cobra.Command, args []string) error {
			if strict && mode != string(bundle.ReplayOnly) {
				return cli.Usage("", "--strict requires --mode replay_only")
			}
			return makeBundle(e, "sanitizing", &output, func() (*bundle.Text, error) {
				b, err := readBundle(e, args[0])
				if err != nil {
					return nil, err
				}
				text, err := bundle.Sanitize(b, bundle.Mode(mode), strict)
				return text, stays(args[0], aBundle, err)
			})
		},
	}

	f := cmd.Flags()
	cli.Choose(f, &mode, "mode", "mode of the result (`MODE`)", mode, string(bundle.ReplayOnly))
	f.BoolVar(&strict, "strict", false, "with replay_only: also withhold outputs and absolute paths")
	output.Register(f, "output (`FILE`)")
	return cmd
}
