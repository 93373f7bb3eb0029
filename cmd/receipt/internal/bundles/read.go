package bundles

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/bundle"
	"github.com/receiptkit/receiptkit/receipt/record"
)

func newValidate(e *cli.Env) *cobra.Command {
	var o markerFlags
	asJSON := false
	cmd := &cobra.Command{
		Use:   "validate FILE",
		Short: "check the form of a session bundle",
		Long: `Check whether a file has the form of a session bundle, and whether a string in
it looks like a secret. A valid bundle is not trusted: nothing shows who created
it, or that its contents are true.`,
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

// A result is the JSON output of validate for a valid bundle.
type result struct {
	OK            bool             `json:"ok"`
	BundleID      string           `json:"bundle_id"`
	SchemaVersion int              `json:"schema_version"`
	Mode          bundle.Mode      `json:"mode"`
	RunRecordID   string           `json:"run_record_id"`
	Warnings      []bundle.Warning `json:"warnings,omitempty"`
}

// A refusal is the JSON output of validate for an invalid bundle.
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
	e.Note("the form is valid; nothing shows who created the bundle, or that its contents are true")
	return nil
}

// refuse returns err. If asJSON is set, it first prints why the file is not a valid bundle.
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

// warn prints a warning for each string that only a heuristic considers a secret.
func warn(e *cli.Env, info *bundle.Info) {
	for _, w := range info.Warnings {
		e.Warn("", "at %s: %s", w.Path, w.Rule)
	}
	if more := info.Total - len(info.Warnings); more > 0 {
		e.Warn("", "and %d more", more)
	}
}

type importOptions struct {
	output cli.OutputFlags
	markerFlags
}

func newImport(e *cli.Env) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "write the run record of a session bundle",
		Long: `Write the run record of a session bundle: the embedded record, or the smallest
one that can be replayed, from the replay fixture and the transcript. Exit
code 3: there is nothing to import.`,
		Example: `  receipt bundle import bundle.json -o imported.json
  receipt bundle import local-bundle.json --allow-unsafe-secret-markers`,
		Args: cli.ExactArgs(1, "one session bundle"),
		RunE: func(_ *cobra.Command, args []string) error {
			markers, err := o.markers()
			if err != nil {
				return err
			}
			if err := o.output.Check(); err != nil {
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
			return write(e, &o.output, text)
		},
	}
	o.markerFlags.register(cmd.Flags())
	o.output.Register(cmd.Flags(), "output file (`FILE`)")
	return cmd
}

type draftOptions struct {
	bundle.DraftOptions
	output cli.OutputFlags
	markerFlags
}

func newDraft(e *cli.Env) *cobra.Command {
	var o draftOptions
	cmd := &cobra.Command{
		Use:   "draft FILE",
		Short: "create the draft of a receipt for a session bundle",
		Long: `Create the draft of a receipt that states which bundle was shared: the digest of
the file, and what the bundle states about its run. To check the file later, use
receipt verify --artifacts DIR, where DIR contains the bundle and the canonical
form of its run record. Exit code 3: the run has not ended.`,
		Example: `  receipt bundle draft bundle.json --issuer my_harness -o new-draft.json
  receipt bundle draft bundle.json --issuer my_harness --workspace ws_garden --tier act_with_approval`,
		Args: cli.ExactArgs(1, "one session bundle"),
		RunE: func(_ *cobra.Command, args []string) error {
			return o.draft(e, args[0])
		},
	}

	f := cmd.Flags()
	f.StringVar(&o.Issuer.ID, "issuer", "", "issuer ID (`ID`)")
	f.StringVar(&o.Issuer.Kind, "issuer-kind", "harness", "issuer kind: harness, host, agent, or connector (`KIND`)")
	f.StringVar(&o.Issuer.Name, "issuer-name", "", "display name of the issuer (`NAME`)")
	f.StringVar(&o.Issuer.PublicKeyID, "key-id", "", "require a signature by this key; sets issuer.public_key_id (`ID`)")
	f.StringVar(&o.ReceiptID, "receipt-id", "", "receipt ID (default: derived from the bundle ID) (`ID`)")
	cli.TimeVar(f, &o.IssuedAt, "issued-at", "time of issue (default: when the bundle was created) (`TIME`)")
	f.StringVar(&o.WorkspaceRef, "workspace", "", "workspace (`REF`)")
	f.StringVar(&o.SessionID, "session", "", "session (`ID`)")
	f.StringVar(&o.TenantID, "tenant", "", "tenant (`ID`)")
	f.StringVar(&o.PersonaRef, "persona", "", "persona (`REF`)")
	f.StringVar(&o.Tier, "tier", "", "persona tier: shadow, suggest, act_with_approval, or act_auto (`TIER`)")
	o.markerFlags.register(f)
	o.output.Register(f, "output file (`FILE`)")
	return cmd
}

func (o *draftOptions) draft(e *cli.Env, path string) (err error) {
	if o.Issuer.ID == "" {
		return cli.Usage("use the issuer ID for which the key was generated", "missing --issuer ID")
	}
	if o.Markers, err = o.markers(); err != nil {
		return err
	}
	if err := o.output.Check(); err != nil {
		return err
	}

	defer e.Progress("drafting").End()
	b, err := read(e, path)
	if err != nil {
		return err
	}

	// Draft also searches the bundle for secrets, unless the flags disable that.
	draft, err := bundle.Draft(b, o.DraftOptions)
	if err != nil {
		return failure(path, aBundle, err)
	}
	text, err := record.JSON(draft)
	if err != nil {
		return err
	}
	return o.output.Write(e, append(text, '\n'), 0o644)
}
