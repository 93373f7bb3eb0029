package bundles

import (
	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/bundle"
)

type sanitizeOptions struct {
	outFlags
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
			switch {
			case o.mode != string(bundle.Sanitized) && o.mode != string(bundle.ReplayOnly):
				return cli.Usage("", "--mode is sanitized or replay_only, found %q", o.mode)
			case o.strict && o.mode != string(bundle.ReplayOnly):
				return cli.Usage("", "--strict is a form of --mode replay_only, which is not given")
			}
			return o.sanitize(e, args[0])
		},
	}

	f := cmd.Flags()
	f.StringVar(&o.mode, "mode", string(bundle.Sanitized), "what is taken out: sanitized, or replay_only, which withholds prompts, arguments and results too: `MODE`")
	f.BoolVar(&o.strict, "strict", false, "with replay_only: withhold input, output, stdout, stderr, message, and visible_text_contains too, and remove absolute paths from all texts")
	o.register(f)
	return cmd
}

func (o *sanitizeOptions) sanitize(e *cli.Env, path string) error {
	if err := o.mayWrite(); err != nil {
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
	return o.write(e, text)
}
