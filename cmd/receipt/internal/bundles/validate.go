package bundles

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/bundle"
)

func newValidate(e *cli.Env) *cobra.Command {
	var o markerFlags
	asJSON := false
	cmd := &cobra.Command{
		Use:   "validate FILE",
		Short: "say whether a file has the form of a session bundle",
		Long: `Say whether a file has the form of a session bundle, and whether a text in it looks
like a secret. A bundle is never trusted because it validates: nothing shows who made
it, or that what it tells happened. receipt bundle draft makes a receipt of it.

Exit codes: 0 when it has the form, 1 when it has not or when a text looks like a
secret, 2 when it could not be read.`,
		Example: `  receipt bundle validate bundle.json
  receipt bundle validate bundle.json --strict --json`,
		Args: cli.ExactArgs(1, "one session bundle"),
		RunE: func(_ *cobra.Command, args []string) error {
			markers, err := o.markers()
			if err != nil {
				return err
			}
			return validate(e, args[0], markers, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write the result as JSON")
	o.register(cmd.Flags())
	return cmd
}

// A result is what validate says as JSON.
type result struct {
	OK            bool             `json:"ok"`
	BundleID      string           `json:"bundle_id"`
	SchemaVersion int              `json:"schema_version"`
	Mode          bundle.Mode      `json:"mode"`
	RunRecordID   string           `json:"run_record_id"`
	Warnings      []bundle.Warning `json:"warnings,omitempty"`
}

// A refusal is what it says of what is none.
type refusal struct {
	OK   bool        `json:"ok"`
	Kind bundle.Kind `json:"kind"`
	Path string      `json:"path"`
	Rule string      `json:"rule"`
}

func validate(e *cli.Env, path string, markers bundle.Markers, asJSON bool) error {
	defer e.Progress("checking").End()
	b, err := read(e, path)
	if err != nil {
		return refuse(e, err, asJSON)
	}
	info, err := bundle.Check(b, markers)
	if err != nil {
		return refuse(e, failure(path, aBundle, err), asJSON)
	}
	warn(e, info)

	line := fmt.Appendf(nil, "OK %s schema_version=%d mode=%s\n", cli.EscapeLine(info.BundleID), info.SchemaVersion, info.Mode)
	if asJSON {
		line, err = receipt.AppendJSON(nil, result{true, info.BundleID, info.SchemaVersion, info.Mode, info.RunRecordID, info.Warnings})
		if err != nil {
			return err
		}
		line = append(line, '\n')
	}
	if _, err := e.Out.Write(line); err != nil {
		return err
	}
	fmt.Fprint(e.Notes(), "receipt: note: it has the form of a bundle; nothing shows who made it, or that what it tells happened\n")
	return nil
}

// refuse says as JSON, too, why a file is no bundle.
func refuse(e *cli.Env, err error, asJSON bool) error {
	var wrong *bundle.Error
	if !asJSON || !errors.As(err, &wrong) {
		return err
	}
	line, encoding := receipt.AppendJSON(nil, refusal{false, wrong.Kind, wrong.Path, wrong.Rule})
	if encoding != nil {
		return encoding
	}
	if _, failed := e.Out.Write(append(line, '\n')); failed != nil {
		return failed
	}
	return err
}

// warn tells where a heuristic takes something for a secret.
func warn(e *cli.Env, info *bundle.Info) {
	for _, w := range info.Warnings {
		fmt.Fprintf(e.Notes(), "receipt: warning: at %s: %s\n", e.WithoutSecrets(cli.EscapeLine(w.Path)), w.Rule)
	}
	if more := info.Total - len(info.Warnings); more > 0 {
		fmt.Fprintf(e.Notes(), "receipt: warning: and %d more\n", more)
	}
}
