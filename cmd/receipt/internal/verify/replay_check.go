package verify

import (
	"cmp"
	"context"
	"fmt"
	"io"
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

type replayCheck struct {
	planFlags
	trust.PolicyFlags
	log, of, format string
}

func newReplayCheck(e *cli.Env) *cobra.Command {
	var o replayCheck
	cmd := &cobra.Command{
		Use:   "check RECEIPT",
		Short: "verify a replay's receipt against the log and the request",
		Long: `Verify the receipt of a replay, and compare it with the draft that the log of its
source and the request determine. Members that neither determines are listed as
not checked. Some, such as the tenant, require the receipt of the replayed task
(--source), which must match the log.`,
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

func (o *replayCheck) check(ctx context.Context, e *cli.Env, path string) error {
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

	// The receipt is verified first. Check then adds the results of the comparison to the same
	// report.
	doc, rep := new(canon.Document), &receipt.Report{Source: cli.SourceName(path)}
	v.VerifyBytes(data, doc, rep)
	source, err := o.readSource(e, v)
	if err != nil {
		return err
	}
	if err := p.Check(v, rep, doc, source); err != nil {
		return replayFailure(o.log, err)
	}

	if o.format == "json" {
		err = e.WriteJSON(rep)
	} else {
		_, err = e.Out.Write(replayText(rep))
	}
	if err != nil {
		return err
	}
	return cli.ExitWith(cli.VerdictExit(rep.Verdict))
}

// readSource reads the receipt of the source, if one is specified, and returns an error unless the
// receipt is verified.
func (o *replayCheck) readSource(e *cli.Env, v *receipt.Verifier) (*canon.Document, error) {
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

// replayText formats the report for people. The text lists all failed checks and, if the verdict is
// undecided, the missing evidence.
func replayText(rep *receipt.Report) []byte {
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

	// Each failed check is listed with its location and both values. The missing evidence consists
	// of the first finding and of all findings from the comparison.
	first := rep.Finding()
	if rep.Verdict == receipt.Undecided {
		replayRow(b, first)
	}
	for _, c := range rep.Checks {
		if c.Status == receipt.StatusFailed || rep.Verdict == receipt.Undecided && c.Code == codeUnavailable && c.Pointer != first.Pointer {
			replayRow(b, c)
		}
	}

	// The following members could not be compared.
	var open []string
	for _, n := range rep.NotChecked {
		if n.Code == codeNotChecked {
			open = append(open, n.Pointer)
		}
	}
	if len(open) > 0 {
		b.Row("not checked", strings.Join(open, " "))
	}
	return b.Bytes()
}

// Codes for statements that the log and the request cannot confirm, and for members that are
// determined by neither the log nor the request.
const (
	codeUnavailable receipt.Code = "replay_unavailable"
	codeNotChecked  receipt.Code = "replay_not_checked"
)

func replayRow(b *print.Block, c receipt.Check) {
	b.Row(c.Step.String(), fmt.Sprintf("%s at %s: %s", c.Code, cmp.Or(c.Pointer, "the whole"), c.Detail))
	if c.Stated != "" || c.Computed != "" {
		b.Row("  stated", cmp.Or(c.Stated, "(nothing)"))
		b.Row("  computed", cmp.Or(c.Computed, "(nothing)"))
	}
}

func newReplayCompare(e *cli.Env) *cobra.Command {
	strict, format := false, "text"
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "list the differences between the receipts of two replays",
		Long: `List the differences between the receipts of two replays of the same log and
request, by JSON Pointer. The IDs of the receipt and the task, issuer, issued_at,
chain, signatures, and metadata may differ. Exit code 1: the receipts differ.`,
		Example: `  receipt replay compare mine.json theirs.json
  receipt replay compare mine.json theirs.json --strict --format json`,
		Args: cli.ExactArgs(2, "two receipts"),
		RunE: func(_ *cobra.Command, args []string) error {
			level := replay.Projection
			if strict {
				level = replay.Strict
			}
			return compare(e, args, level, format)
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "compare everything except the signatures")
	cli.Choose(cmd.Flags(), &format, "format", "output format (`FORMAT`)", "text", "json")
	return cmd
}

func compare(e *cli.Env, paths []string, level replay.Level, format string) error {
	a, b, err := readPair(e, paths)
	if err != nil {
		return err
	}

	// The receipts are not verified. Only the differences between them are listed.
	found := replay.Compare(a, b, level)
	if format == "json" {
		err = e.WriteJSON(struct {
			Same        bool                `json:"same"`
			Differences []replay.Difference `json:"differences"`
		}{len(found) == 0, append([]replay.Difference{}, found...)})
	} else {
		_, err = io.WriteString(e.Out, differencesText(found))
	}
	if err != nil || len(found) == 0 {
		return err
	}
	return cli.ExitWith(cli.ExitRefuted)
}

func differencesText(found []replay.Difference) string {
	if len(found) == 0 {
		return "the same\n"
	}
	var b strings.Builder
	for _, d := range found {
		text := fmt.Sprintf("%s: %s → %s", cmp.Or(d.Pointer, "the whole"), cmp.Or(d.A, "(nothing)"), cmp.Or(d.B, "(nothing)"))
		fmt.Fprintln(&b, cli.EscapeLine(text))
	}
	return b.String()
}
