package bundles

import (
	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/bundle"
)

type exportOptions struct {
	bundle.Options
	output            cli.OutputFlags
	local, replayOnly bool
}

func newExport(e *cli.Env) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export RUN",
		Short: "create a session bundle from a run record",
		Long: `Create a session bundle from a run record. Secrets, paths of the machine, and
strings that look like secrets are replaced, and each place is listed in the
bundle. The same record and flags give the same bytes.`,
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

			// Only the form is checked. The bundle contains the time as given.
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
	o.output.Register(f, "output file (`FILE`)")
	return cmd
}

func (o *exportOptions) export(e *cli.Env, path string) error {
	if err := o.output.Check(); err != nil {
		return err
	}

	defer e.Progress("exporting").End()
	data, err := input.ReadBounded(e, path, bundle.MaxBytes+1)
	if err != nil {
		return err
	}
	run, err := bundle.ParseRun(data)
	if err != nil {
		return failure(path, aRun, err)
	}

	// The bundle records the producer, so a different version of this program may write different
	// bytes.
	o.Producer = bundle.Producer{Name: "receiptkit", Version: cli.ToolVersion()}
	text, err := bundle.Export(run, o.Options)
	if err != nil {
		return stays(path, aRun, err)
	}
	return write(e, &o.output, text)
}

type sanitizeOptions struct {
	output cli.OutputFlags
	mode   string
	strict bool
}

func newSanitize(e *cli.Env) *cobra.Command {
	var o sanitizeOptions
	cmd := &cobra.Command{
		Use:   "sanitize FILE",
		Short: "remove data from a session bundle",
		Long: `Remove the data that a mode excludes from a session bundle, and list each place
in it. A replay_only bundle cannot be converted to a sanitized one.`,
		Example: `  receipt bundle sanitize local-bundle.json -o bundle.json
  receipt bundle sanitize local-bundle.json --mode replay_only --strict`,
		Args: cli.ExactArgs(1, "one session bundle"),
		RunE: func(_ *cobra.Command, args []string) error {
			if o.strict && o.mode != string(bundle.ReplayOnly) {
				return cli.Usage("", "--strict requires --mode replay_only")
			}
			return o.sanitize(e, args[0])
		},
	}

	f := cmd.Flags()
	o.mode = string(bundle.Sanitized)
	cli.Choose(f, &o.mode, "mode", "mode of the result (`MODE`)", o.mode, string(bundle.ReplayOnly))
	f.BoolVar(&o.strict, "strict", false, "with replay_only: also withhold outputs and absolute paths")
	o.output.Register(f, "output file (`FILE`)")
	return cmd
}

func (o *sanitizeOptions) sanitize(e *cli.Env, path string) error {
	if err := o.output.Check(); err != nil {
		return err
	}

	defer e.Progress("sanitizing").End()
	b, err := read(e, path)
	if err != nil {
		return err
	}
	text, err := bundle.Sanitize(b, bundle.Mode(o.mode), o.strict)
	if err != nil {
		return stays(path, aBundle, err)
	}
	return write(e, &o.output, text)
}
