package issue

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/bundle"
	"github.com/receiptkit/receiptkit/receipt/record"
)

func newBundleValidate(e *cli.Env) *cobra.Command {
	var o markerFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "validate FILE",
		Short: "check the form of a session bundle",
		Long: `Check whether a file has the form of a session bundle, and whether a string in it
looks like a secret. The creator of the bundle and the truth of its contents are
not checked.`,
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

// A validBundle is the JSON output of "bundle validate" for a valid bundle.
type validBundle struct {
	OK            bool             `json:"ok"`
	BundleID      string           `json:"bundle_id"`
	SchemaVersion int              `json:"schema_version"`
	Mode          bundle.Mode      `json:"mode"`
	RunRecordID   string           `json:"run_record_id"`
	Warnings      []bundle.Warning `json:"warnings,omitempty"`
}

// An invalidBundle is the JSON output of "bundle validate" for an invalid bundle.
type invalidBundle struct {
	OK   bool        `json:"ok"`
	Kind bundle.Kind `json:"kind"`
	Path string      `json:"path"`
	Rule string      `json:"rule"`
}

func validate(e *cli.Env, path string, markers bundle.Markers, asJSON bool) error {
	defer e.Progress("checking").End()
	b, err := readBundle(e, path)
	var info *bundle.Info
	if err == nil {
		info, err = bundle.Check(b, markers)
		err = bundleFailure(path, aBundle, err)
	}
	if wrong := (*bundle.Error)(nil); asJSON && errors.As(err, &wrong) {
		if failed := e.WriteJSON(invalidBundle{false, wrong.Kind, wrong.Path, wrong.Rule}); failed != nil {
			return failed
		}
	}
	if err != nil {
		return err
	}

	// A heuristic detected these strings as possible secrets.
	for _, w := range info.Warnings {
		e.Warn("", "at %s: %s", w.Path, w.Rule)
	}
	if more := info.Total - len(info.Warnings); more > 0 {
		e.Warn("", "and %d more", more)
	}

	if asJSON {
		err = e.WriteJSON(validBundle{true, info.BundleID, info.SchemaVersion, info.Mode, info.RunRecordID, info.Warnings})
	} else {
		_, err = fmt.Fprintf(e.Out, "OK %s schema_version=%d mode=%s\n", cli.EscapeLine(info.BundleID), info.SchemaVersion, info.Mode)
	}
	if err != nil {
		return err
	}
	e.Note("the form is valid; nothing shows who created the bundle, or that its contents are true")
	return nil
}

func newBundleImport(e *cli.Env) *cobra.Command {
	var o markerFlags
	var output cli.OutputFlags
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "write the run record of a session bundle",
		Long: `Write the run record of a session bundle: the embedded record, or the smallest
record that can be replayed, from the replay fixture and the transcript. Exit
code 3: there is nothing to import.`,
		Example: `  receipt bundle import bundle.json -o imported.json
  receipt bundle import local-bundle.json --allow-unsafe-secret-markers`,
		Args: cli.ExactArgs(1, "one session bundle"),
		RunE: func(_ *cobra.Command, args []string) error {
			markers, err := o.markers()
			if err != nil {
				return err
			}
			return makeBundle(e, "importing", &output, func() (*bundle.Text, error) {
				b, err := readBundle(e, args[0])
				if err != nil {
					return nil, err
				}
				text, err := bundle.Import(b, markers)
				return text, bundleFailure(args[0], aBundle, err)
			})
		},
	}

	o.register(cmd.Flags())
	output.Register(cmd.Flags(), "output (`FILE`)")
	return cmd
}

type bundleDraft struct {
	bundle.DraftOptions
	output cli.OutputFlags
	markerFlags
}

func newBundleDraft(e *cli.Env) *cobra.Command {
	var o bundleDraft
	cmd := &cobra.Command{
		Use:   "draft FILE",
		Short: "create the draft of a receipt for a session bundle",
		Long: `Create the draft of a receipt that states which bundle was shared: the digest of
the file, and what the bundle states about its run. receipt verify --artifacts
checks the file and its run record. Exit code 3: the run has not ended.`,
		Example: `  receipt bundle draft bundle.json --issuer my_harness -o new-draft.json
  receipt bundle draft bundle.json --issuer my_harness --workspace ws_garden --tier act_with_approval`,
		Args: cli.ExactArgs(1, "one session bundle"),
		RunE: func(_ *cobra.Command, args []string) error { return o.draft(e, args[0]) },
	}

	f := cmd.Flags()
	issuerFlags(f, &o.Issuer)
	contextFlags(f, &o.WorkspaceRef, &o.SessionID, &o.TenantID, &o.PersonaRef)
	f.StringVar(&o.ReceiptID, "receipt-id", "", "receipt ID (default: derived from the bundle ID) (`ID`)")
	cli.TimeVar(f, &o.IssuedAt, "issued-at", "time of issue (default: when the bundle was created) (`TIME`)")
	f.StringVar(&o.Tier, "tier", "", "persona tier: shadow, suggest, act_with_approval, or act_auto (`TIER`)")
	o.markerFlags.register(f)
	o.output.Register(f, "output (`FILE`)")
	return cmd
}

func (o *bundleDraft) draft(e *cli.Env, path string) (err error) {
	if o.Issuer.ID == "" {
		return noIssuer()
	}
	if o.Markers, err = o.markers(); err != nil {
		return err
	}
	if err := o.output.Check(); err != nil {
		return err
	}

	defer e.Progress("drafting").End()
	b, err := readBundle(e, path)
	if err != nil {
		return err
	}

	// Draft also searches the bundle for secrets, unless the flags disable that.
	draft, err := bundle.Draft(b, o.DraftOptions)
	if err != nil {
		return bundleFailure(path, aBundle, err)
	}
	text, err := record.JSON(draft)
	if err != nil {
		return err
	}
	return o.output.Write(e, append(text, '\n'), 0o644)
}
