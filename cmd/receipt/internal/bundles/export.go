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
		Short: "make a session bundle of a run record",
		Long: `Make the session bundle of a run record. Secrets, paths of the machine and what looks
like a secret in a text are replaced, and each place is listed in the bundle. With
--replay-only prompts, arguments and results are withheld too; with --local nothing
is taken out. The same record and flags give the same bytes.

Exit codes: 0 when the bundle was made, 1 when the record is malformed, 2 when it
could not be read or made as asked.`,
		Example: `  receipt bundle export run.json -o bundle.json
  receipt bundle export run.json --replay-only --strict`,
		Args: cli.ExactArgs(1, "one run record"),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case o.local && o.replayOnly:
				return cli.Usage("", "--local and --replay-only exclude each other")
			case o.Strict && !o.replayOnly:
				return cli.Usage("", "--strict is a form of --replay-only, which is not given")
			case o.local:
				o.Mode = bundle.Local
			case o.replayOnly:
				o.Mode = bundle.ReplayOnly
			}
			if o.CreatedAt != "" {
				if _, err := receipt.ParseTime(o.CreatedAt); err != nil {
					return cli.Usage("", "--created-at %q: %w", o.CreatedAt, err)
				}
			}
			return o.export(e, args[0])
		},
	}

	f := cmd.Flags()
	f.BoolVar(&o.local, "local", false, "take nothing out: for whoever has this machine anyway")
	f.BoolVar(&o.replayOnly, "replay-only", false, "withhold prompts, arguments and results too")
	f.BoolVar(&o.Strict, "strict", false, "with --replay-only: withhold input, output, stdout, stderr, message, and visible_text_contains too, and remove absolute paths from all texts")
	f.BoolVar(&o.Attachments, "include-attachments", false, "list the artifacts of the run as attachments")
	f.StringVar(&o.ID, "id", "", "`ID` of the bundle (default: made of the run record as the bundle has it)")
	f.StringVar(&o.CreatedAt, "created-at", "", "`TIME` at which it was made (default: when the run ended)")
	o.output.Register(f, "write to this `FILE`")
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
		Short: "take out of a session bundle what may not leave",
		Long: `Take out of a session bundle what a mode takes out, and list each place in it. A
bundle gets nothing back: of a replay_only one none that is sanitized can be made.
Sanitizing the result changes nothing.

Exit codes: 0 when the bundle was made, 1 when the file is none, 2 when it could not
be read or made as asked.`,
		Example: `  receipt bundle sanitize local-bundle.json -o bundle.json
  receipt bundle sanitize local-bundle.json --mode replay_only --strict`,
		Args: cli.ExactArgs(1, "one session bundle"),
		RunE: func(_ *cobra.Command, args []string) error {
			if o.strict && o.mode != string(bundle.ReplayOnly) {
				return cli.Usage("", "--strict is a form of --mode replay_only, which is not given")
			}
			return o.sanitize(e, args[0])
		},
	}

	f := cmd.Flags()
	o.mode = string(bundle.Sanitized)
	cli.Choose(f, &o.mode, "mode", "`MODE` of the result; replay_only withholds prompts, arguments and results too", o.mode, string(bundle.ReplayOnly))
	f.BoolVar(&o.strict, "strict", false, "with replay_only: withhold input, output, stdout, stderr, message, and visible_text_contains too, and remove absolute paths from all texts")
	o.output.Register(f, "write to this `FILE`")
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
