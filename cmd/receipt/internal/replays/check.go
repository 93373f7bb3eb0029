package replays

import (
	"bytes"
	"context"
	"fmt"
	"strings"

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
		Short: "verify a replay's receipt against the log and the request",
		Long: `Verify the receipt of a replay, and compare it, member by member, with the draft
that the log of its source and the request give. Members that neither determines
are listed as not checked.

The receipt of the replayed task (--source) must match the log, and determines
members that the log does not name, such as the tenant.
`,
		Example: `  receipt replay check replayed.json --log log.jsonl --request request.json --keys keys.json
  receipt replay check replayed.json --log log.jsonl --request request.json --source source.json --integrity-only`,
		Args: cli.ExactArgs(1, "one receipt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.log == "" {
				return cli.Usage("", "missing --log FILE of the replayed task")
			}
			return o.check(cmd.Context(), e, args[0])
		},
	}

	f := cmd.Flags()
	f.StringVar(&o.log, "log", "", "log of the replayed task (`FILE`)")
	o.register(f, "task")
	f.StringVar(&o.of, "source", "", "receipt of the replayed task (`FILE`)")
	o.PolicyFlags.Register(f)
	o.format = "text"
	cli.Choose(f, &o.format, "format", "report format (`FORMAT`)", "text", "json")
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

	// Verify the receipt first. Check then adds the results of the comparison to the same report.
	doc, rep := new(canon.Document), &receipt.Report{Source: cli.SourceName(path)}
	v.VerifyBytes(data, doc, rep)
	source, err := o.readSource(e, v)
	if err != nil {
		return err
	}
	if err := p.Check(v, rep, doc, source); err != nil {
		return failure(o.log, err)
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

// readSource reads the receipt of the source, if one is specified, and returns an error unless it
// is verified.
func (o *checkOptions) readSource(e *cli.Env, v *receipt.Verifier) (*canon.Document, error) {
	if o.of == "" {
		return nil, nil
	}
	data, err := input.ReadReceipt(e, o.of)
	if err != nil {
		return nil, err
	}
	source, judged := new(canon.Document), &receipt.Report{Source: cli.SourceName(o.of)}
	v.VerifyBytes(data, source, judged)
	switch f := judged.Finding(); judged.Verdict {
	case receipt.Verified:
		return source, nil
	case receipt.Refuted:
		return nil, cli.Refuted(f.Hint, "%q, the receipt of the source: %s: %s", o.of, f.Code, f.Detail)
	default:
		return nil, cli.Undecided(f.Hint, "%q, the receipt of the source: %s: %s", o.of, f.Code, f.Detail)
	}
}

// page formats the report. The text lists all failed checks and, if the verdict is undecided,
// missing evidence.
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
		fmt.Fprintf(b, "%s: intact, signer not checked; every compared member matches the log and the request\n", name)
	default:
		fmt.Fprintf(b, "%s: verified; every compared member matches the log and the request\n", name)
	}

	// List every failed check, with its place and both values.
	for _, c := range rep.Checks {
		if c.Status == receipt.StatusFailed {
			row(b, c)
		}
	}
	if rep.Verdict == receipt.Undecided {
		undecided(b, rep)
	}
	notChecked(b, rep)
	return b.Bytes(), nil
}

// undecided lists missing evidence: the first finding, and all findings of the comparison.
func undecided(b *print.Block, rep *receipt.Report) {
	first := rep.Finding()
	row(b, first)
	for _, c := range rep.Checks {
		if c.Code == codeUnavailable && c.Pointer != first.Pointer {
			row(b, c)
		}
	}
}

// notChecked lists the members that the check could not compare.
func notChecked(b *print.Block, rep *receipt.Report) {
	var open []string
	for _, n := range rep.NotChecked {
		if n.Code == codeNotChecked {
			open = append(open, n.Pointer)
		}
	}
	if len(open) > 0 {
		b.Row("not checked", strings.Join(open, " "))
	}
}

// codeUnavailable is the code of statements that the log and the request cannot support.
const codeUnavailable receipt.Code = "replay_unavailable"

// codeNotChecked is the code of members that neither the log nor the request determines.
const codeNotChecked receipt.Code = "replay_not_checked"

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

func newCompare(e *cli.Env) *cobra.Command {
	strict, format := false, "text"
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "list the differences between the receipts of two replays",
		Long: `List the differences, by JSON Pointer, between the receipts of two replays of
the same log and request. Members that neither determines are ignored: the IDs
of the receipt and the task, issuer, issued_at, chain, signatures, and metadata.
--strict ignores only the signatures. Exit code 1: the receipts differ.`,
		Example: `  receipt replay compare mine.json theirs.json
  receipt replay compare mine.json theirs.json --strict --format json`,
		Args: cli.ExactArgs(2, "two receipts"),
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] == cli.StdinName && args[1] == cli.StdinName {
				return cli.Usage("", "stdin is specified twice, but can be read only once")
			}
			level := replay.Projection
			if strict {
				level = replay.Strict
			}
			return compare(e, args[0], args[1], level, format)
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "compare everything except the signatures")
	cli.Choose(cmd.Flags(), &format, "format", "output format (`FORMAT`)", "text", "json")
	return cmd
}

func compare(e *cli.Env, a, b string, level replay.Level, format string) error {
	left, err := input.ReadHashable(e, a)
	if err != nil {
		return unreadable(err)
	}
	right, err := input.ReadHashable(e, b)
	if err != nil {
		return unreadable(err)
	}

	// The receipts are not verified. Only their differences are listed.
	found := replay.Compare(left, right, level)
	text, err := differencesAs(format, found)
	if err != nil {
		return err
	}
	if _, err := e.Out.Write(text); err != nil {
		return err
	}
	if len(found) > 0 {
		return cli.ExitWith(cli.ExitRefuted)
	}
	return nil
}

// unreadable changes the exit code of a failure to 2, because there is nothing to compare if an
// input is not a receipt.
func unreadable(err error) error {
	if f, ok := err.(*cli.Failure); ok {
		return &cli.Failure{Code: cli.ExitUsage, Err: f.Err, Hint: f.Hint}
	}
	return err
}

func differencesAs(format string, found []replay.Difference) ([]byte, error) {
	if format == "json" {
		text, err := receipt.AppendJSON(nil, struct {
			Same        bool                `json:"same"`
			Differences []replay.Difference `json:"differences"`
		}{len(found) == 0, append([]replay.Difference{}, found...)})
		return append(text, '\n'), err
	}

	var b bytes.Buffer
	if len(found) == 0 {
		b.WriteString("the same\n")
	}
	for _, d := range found {
		fmt.Fprintf(&b, "%s\n", cli.EscapeLine(fmt.Sprintf("%s: %s → %s", orWhole(d.Pointer), orNone(d.A), orNone(d.B))))
	}
	return b.Bytes(), nil
}
