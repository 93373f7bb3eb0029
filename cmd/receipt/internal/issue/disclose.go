package issue

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/redact"
)

type discloseOptions struct {
	disclosures string
	fields      []string
	all         bool
	output      cli.OutputFlags
}

// NewDisclose returns the hidden command "receipt disclose", the old name of "receipt redact
// disclose".
func NewDisclose(e *cli.Env) *cobra.Command {
	cmd := newDisclose(e)
	cmd.Hidden = true
	return cmd
}

func newDisclose(e *cli.Env) *cobra.Command {
	var o discloseOptions
	cmd := &cobra.Command{
		Use:   "disclose FILE --disclosures FILE --field POINTER…",
		Short: "disclose selected withheld values of a receipt",
		Long: `Write a disclosure file, for receipt verify --disclosures, that contains only the
named fields and is bound to the receipt.`,
		Example: `  receipt redact disclose redacted-receipt.json --disclosures withheld.json --field /metadata/pin -o for-the-auditor.json
  receipt redact disclose redacted-receipt.json --disclosures withheld.json --all`,
		Args: cli.ExactArgs(1, "one receipt"),
		RunE: func(cmd *cobra.Command, args []string) error { return disclose(e, args[0], &o) },
	}

	f := cmd.Flags()
	f.StringVar(&o.disclosures, "disclosures", "", "withheld values, as redact wrote them (`FILE`)")
	f.StringArrayVar(&o.fields, "field", nil, "field, as listed in redactions; repeatable (`POINTER`)")
	f.BoolVar(&o.all, "all", false, "disclose every field")
	o.output.Register(f, "output (`FILE`)")
	return cmd
}

func disclose(e *cli.Env, path string, o *discloseOptions) error {
	switch {
	case o.disclosures == "":
		return cli.Usage("use the file that receipt redact --disclosures wrote", "missing --disclosures FILE")
	case o.all && len(o.fields) > 0:
		return cli.Usage("", "--all and --field exclude each other")
	case !o.all && len(o.fields) == 0:
		return cli.Usage("--all discloses every field", "missing --field POINTER")
	}

	given, err := input.ReadDisclosures(e, o.disclosures)
	if err != nil {
		return err
	}

	data, err := input.ReadReceipt(e, path)
	if err != nil {
		return err
	}

	// A commitment is meaningful only in a receipt that matches its hash.
	if err := input.RefuseDraft(path, data, " --key KEY -o RECEIPT"); err != nil {
		return err
	}
	sealed, err := receipt.ParseSealed(data)
	if err != nil {
		return cli.Refuted("receipt verify --integrity-only "+cli.ShellFile(cli.SourceName(path))+" lists all faults; only a sealed, undamaged receipt has commitments to check", "%q: %w", cli.SourceName(path), err)
	}

	// The disclosures are bound to this receipt, so that they cannot be used with any other
	// receipt.
	bound, err := given.Bind(sealed.Hash())
	if err != nil {
		return cli.Refuted("", "%q: %w", o.disclosures, err)
	}
	if !o.all {
		if bound, err = bound.Select(o.fields...); err != nil {
			return cli.Usage(fieldsHow(sealed.Document()), "%q: %w", o.disclosures, err)
		}
	}

	// A value that does not match its commitment must not be disclosed.
	if err := bound.Check(sealed.Document()); err != nil {
		how := "use the file that receipt redact --disclosures wrote for this receipt"
		if wrong := (*redact.DisclosureError)(nil); errors.As(err, &wrong) && wrong.Code == string(receipt.CodeDisclosureUnknown) {
			how = fieldsHow(sealed.Document())
		}
		return cli.Refuted(how, "%q: %w", o.disclosures, err)
	}
	return o.output.Write(e, bound.Marshal(), 0o600)
}

// fieldsHow returns a hint that names the first few fields with a commitment.
func fieldsHow(doc *canon.Document) string {
	const most = 5
	var fields []string
	for _, entry := range doc.Root().Member("redactions").Elements() {
		if !entry.Member("proof_hash").IsZero() {
			fields = append(fields, cli.ShellName(entry.Member("field").String()))
		}
	}

	switch n := len(fields); {
	case n == 0:
		return "the receipt has no commitment, so nothing can be disclosed"
	case n > most:
		return fmt.Sprintf("the receipt has commitments of %s and %d more: its redactions", strings.Join(fields[:most], " "), n-most)
	}
	return "the receipt has commitments of " + strings.Join(fields, " ")
}
