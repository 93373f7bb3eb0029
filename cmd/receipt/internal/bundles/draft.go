package bundles

import (
	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/bundle"
	"github.com/receiptkit/receiptkit/receipt/record"
)

type draftOptions struct {
	bundle.DraftOptions
	outFlags
	markerFlags
	issuedAt string
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
	f.StringVar(&o.issuedAt, "issued-at", "", "`TIME` of issue (default: when the bundle was made)")
	f.StringVar(&o.WorkspaceRef, "workspace", "", "`REF` of the workspace")
	f.StringVar(&o.SessionID, "session", "", "`ID` of the session")
	f.StringVar(&o.TenantID, "tenant", "", "`ID` of the tenant")
	f.StringVar(&o.PersonaRef, "persona", "", "`REF` of the persona")
	f.StringVar(&o.Tier, "tier", "", "the persona's `TIER`: shadow, suggest, act_with_approval or act_auto")
	o.markerFlags.register(f)
	o.outFlags.register(f)
	return cmd
}

func (o *draftOptions) draft(e *cli.Env, path string) (err error) {
	if o.Issuer.ID == "" {
		return cli.Usage("the issuer is the one that receipt keys generate --issuer ID made a key for", "--issuer is missing: who issues the receipt?")
	}
	if o.Markers, err = o.markers(); err != nil {
		return err
	}
	if o.issuedAt != "" {
		if o.IssuedAt, err = receipt.ParseTime(o.issuedAt); err != nil {
			return cli.Usage("", "--issued-at %q: %w", o.issuedAt, err)
		}
	}
	if err := o.mayWrite(); err != nil {
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
	return cli.WriteOutput(e, o.output, append(text, '\n'), 0o644, o.force)
}
