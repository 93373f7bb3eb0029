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
	e.Note("it has the form of a bundle; nothing shows who made it, or that what it tells happened")
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
	o.output.Register(cmd.Flags(), "write to this `FILE`")
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
		Short: "make the draft of a receipt of a session bundle",
		Long: `Make the draft of a receipt that proves which bundle left: it names the digest of the
file, and what the bundle says of its run. receipt seal makes the receipt; receipt
verify --artifacts DIR shows that the file is the one, with the bundle in the folder
and, in its canonical form, the run record that is in it.

Exit codes: 0 when the draft was made, 1 when the file is no bundle or a text in it
looks like a secret, 2 when it could not be read or made as asked, 3 when the run
has not ended.`,
		Example: `  receipt bundle draft bundle.json --issuer my_harness -o new-draft.json
  receipt bundle draft bundle.json --issuer my_harness --workspace ws_garden --tier act_with_approval`,
		Args: cli.ExactArgs(1, "one session bundle"),
		RunE: func(_ *cobra.Command, args []string) error {
			return o.draft(e, args[0])
		},
	}

	f := cmd.Flags()
	f.StringVar(&o.Issuer.ID, "issuer", "", "who issues the receipt: issuer.`ID`")
	f.StringVar(&o.Issuer.Kind, "issuer-kind", "harness", "`KIND` of the issuer: harness, host, agent or connector")
	f.StringVar(&o.Issuer.Name, "issuer-name", "", "`NAME` of the issuer, for people")
	f.StringVar(&o.Issuer.PublicKeyID, "key-id", "", "demand a signature by this key: issuer.public_key_id")
	f.StringVar(&o.ReceiptID, "receipt-id", "", "`ID` of the receipt (default: made of the bundle's)")
	cli.TimeVar(f, &o.IssuedAt, "issued-at", "`TIME` of issue (default: when the bundle was made)")
	f.StringVar(&o.WorkspaceRef, "workspace", "", "`REF` of the workspace")
	f.StringVar(&o.SessionID, "session", "", "`ID` of the session")
	f.StringVar(&o.TenantID, "tenant", "", "`ID` of the tenant")
	f.StringVar(&o.PersonaRef, "persona", "", "`REF` of the persona")
	f.StringVar(&o.Tier, "tier", "", "the persona's `TIER`: shadow, suggest, act_with_approval or act_auto")
	o.markerFlags.register(f)
	o.output.Register(f, "write to this `FILE`")
	return cmd
}

func (o *draftOptions) draft(e *cli.Env, path string) (err error) {
	if o.Issuer.ID == "" {
		return cli.Usage("the issuer is the one that receipt keys generate --issuer ID made a key for", "--issuer is missing: who issues the receipt?")
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
