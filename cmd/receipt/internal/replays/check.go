package replays

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

type checkOptions struct {
	planFlags
	trust.PolicyFlags
	log, of, format string
}

func newCheck(e *cli.Env) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check RECEIPT",
		Short: "hold the receipt of a replay to the log and the request",
		Long: `Verify the receipt of a replay, and hold it to the log of its source and the
request: the log, each delta and no other, each material, the times; nothing done,
approved, consumed or paid.

Exit codes: 0 verified, 1 something is false, 2 something could not be read or run
as asked, 3 evidence is missing.`,
		Example: `  receipt replay check replayed.json --log log.jsonl --request request.json --keys keys.json
  receipt replay check replayed.json --log log.jsonl --request request.json --source source.json --integrity-only`,
		Args: cli.ExactArgs(1, "one receipt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.log == "":
				return cli.Usage("", "--log is missing: the log of the task that was replayed")
			case o.format != "text" && o.format != "json":
				return cli.Usage("", "--format is text or json, found %q", o.format)
			}
			return o.check(cmd.Context(), e, args[0])
		},
	}

	f := cmd.Flags()
	f.StringVar(&o.log, "log", "", "the log of the task that was replayed, a `FILE`")
	o.register(f, "task")
	f.StringVar(&o.of, "source", "", "the receipt of that task, a `FILE`")
	o.PolicyFlags.Register(f)
	f.StringVar(&o.format, "format", "text", "`FORM` of the report: text or json")
	return cmd
}

func (o *checkOptions) check(ctx context.Context, e *cli.Env, path string) error {
	v, _, err := o.Verifier(e)
	if err != nil {
		return err
	}
	data, err := input.ReadReceipt(e, path)
	if err != nil {
		return err
	}
	p, done, err := o.plan(ctx, e, o.log)
	if err != nil {
		return err
	}
	defer done()

	doc, rep := new(canon.Document), &receipt.Report{Source: cli.SourceName(path)}
	v.VerifyBytes(data, doc, rep)
	if err := p.Check(v, rep, doc); err != nil {
		return failure(o.log, err)
	}
	if o.of != "" {
		if err := o.checkSource(e, v, p, rep, doc); err != nil {
			return err
		}
	}

	text, err := o.page(rep)
	if err != nil {
		return err
	}
	if _, err := e.Out.Write(text); err != nil {
		return err
	}
	return cli.ExitWith(cli.VerdictExit(rep.Verdict))
}

// checkSource looks at the receipt of the source, which has to be sound itself.
func (o *checkOptions) checkSource(e *cli.Env, v *receipt.Verifier, p *replay.Plan, rep *receipt.Report, doc *canon.Document) error {
	data, err := input.ReadReceipt(e, o.of)
	if err != nil {
		return err
	}
	source, judged := new(canon.Document), &receipt.Report{Source: cli.SourceName(o.of)}
	v.VerifyBytes(data, source, judged)
	switch f := judged.Finding(); judged.Verdict {
	case receipt.Verified:
		return p.CheckSource(v, rep, doc, source)
	case receipt.Refuted:
		return cli.Refuted(f.Hint, "%q, the receipt of the source: %s: %s", o.of, f.Code, f.Detail)
	default:
		return cli.Undecided(f.Hint, "%q, the receipt of the source: %s: %s", o.of, f.Code, f.Detail)
	}
}

// page is the report as it was asked for: all that is false, or else what is missing.
func (o *checkOptions) page(rep *receipt.Report) ([]byte, error) {
	if o.format == "json" {
		text, err := receipt.AppendJSON(nil, rep)
		return append(text, '\n'), err
	}

	b := &print.Block{}
	name := cli.EscapeLine(rep.Source)
	switch {
	case rep.Verdict != receipt.Verified:
		fmt.Fprintf(b, "%s: %s\n", name, rep.Verdict)
	case rep.Scope == receipt.ScopeIntegrity:
		fmt.Fprintf(b, "%s: intact, signer not checked; it is the replay that the log and the request give\n", name)
	default:
		fmt.Fprintf(b, "%s: verified; it is the replay that the log and the request give\n", name)
	}

	for _, c := range rep.Checks {
		if c.Status == receipt.StatusFailed {
			row(b, c)
		}
	}
	if rep.Verdict == receipt.Undecided {
		row(b, rep.Finding())
	}
	return b.Bytes(), nil
}

func row(b *print.Block, c receipt.Check) {
	b.Row(c.Step.String(), fmt.Sprintf("%s at %s: %s", c.Code, orWhole(c.Pointer), c.Detail))
	if c.Stated != "" || c.Computed != "" {
		b.Row("  stated", orNone(c.Stated))
		b.Row("  computed", orNone(c.Computed))
	}
}

func orWhole(pointer string) string {
	if pointer == "" {
		return "the whole"
	}
	return pointer
}

func orNone(text string) string {
	if text == "" {
		return "(nothing)"
	}
	return text
}
