package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

type mergeOptions struct {
	expectFlags
	output cli.OutputFlags
	format string
}

// NewMerge returns the command "receipt merge".
func NewMerge(e *cli.Env) *cobra.Command {
	var o mergeOptions
	cmd := &cobra.Command{
		Use:   "merge REPORT…",
		Short: "combine the reports of parts into one verdict",
		Long: `Combine the reports of parts, in any order, into one verdict. Split streams are
joined by their links; if they do not join, the verdict is refuted, unless a
part was verified with --partial. Checks that the reports do not allow are
listed as not checked.

REPORT is the output of verify --format json or ndjson, or the summary in it.
All parts need the same keys, --issuer, --at, --strict, and --policy.`,
		Example: `  receipt merge april.report.json may.report.json
  receipt merge *.report.json --format json -o merged.json`,
		RunE: func(cmd *cobra.Command, args []string) error { return merge(cmd.Context(), e, args, &o) },
	}

	f := cmd.Flags()
	f.SortFlags = false
	o.expectFlags.register(f)
	f.StringVar(&o.format, "format", "text", "output format: text or json (`FORMAT`)")
	o.output.Register(f, "output (`FILE`)")
	return cmd
}

func merge(ctx context.Context, e *cli.Env, paths []string, o *mergeOptions) error {
	switch {
	case len(paths) == 0:
		return cli.Usage("create a report with receipt verify --format json PATH… >REPORT", "expected reports, found none")
	case o.format != "text" && o.format != "json":
		return cli.Usage("", "--format must be text or json, found %q", o.format)
	}

	if err := cli.OnceStdin(append(slices.Clone(paths), o.head)...); err != nil {
		return err
	}

	// The expectations may also be specified as reports.
	var expect stream.Options
	if err := o.expectFlags.apply(e, &expect); err != nil {
		return err
	}

	progress := e.Progress("reading", "merging")
	defer progress.End()
	parts, err := readParts(e, paths)
	if err != nil {
		return err
	}
	progress.Pass(1, 0, 0)

	sum, err := mergeAll(parts)
	if err != nil {
		return err
	}

	// If two parts contain the same receipt, the receipt was counted twice, unless the summaries
	// have rosters.
	if detail := overlapOf(parts); detail != "" {
		sum.MarkOverlap(detail)
	}
	if o.given() {
		if sum, err = sum.Expect(expect.Continuity); err != nil {
			return input.Fatal(err)
		}
	}

	// The result is a report without lists of receipts.
	sum.Tool = cli.ToolName()
	var b bytes.Buffer
	if o.format == "json" {
		err = print.NewJSONPrinter(&b).End(sum)
	} else {
		writeMerged(&b, e.Colored() && o.output.Path == "", sum, len(parts))
	}
	if err != nil {
		return err
	}

	if o.output.Path == "" && o.format == "text" {
		_, err = e.Text().Write(b.Bytes())
	} else {
		err = o.output.Write(e, b.Bytes(), 0o644)
	}
	if err != nil {
		return err
	}
	return cli.ExitWith(cli.SummaryExit(sum))
}

// A part is a report with its path.
type part struct {
	path string
	*input.SavedReport
}

func readParts(e *cli.Env, paths []string) ([]part, error) {
	var parts []part
	seen := map[[sha256.Size]byte]string{}
	for _, path := range paths {
		data, err := input.ReadBounded(e, path, input.MaxReportBytes+1)
		if err != nil {
			return nil, err
		}

		digest := sha256.Sum256(data)
		if first, again := seen[digest]; again {
			return nil, cli.Usage("specify each report only once", "%q is the same report as %q", cli.SourceName(path), cli.SourceName(first))
		}
		seen[digest] = path

		report, err := input.ReadReport(data)
		if err != nil {
			if wrong := input.WrongKind(path, data, "a report", kind.Report); wrong != nil {
				return nil, wrong
			}
			return nil, partFailure(path, err)
		}

		// If a summary has no roster, the listed hashes are used for merging.
		if report.Whole() {
			report.List(report.Listed)
		}

		// Verdicts cannot be combined if they are based on different requirements.
		p := part{path, report}
		if len(parts) > 0 {
			if err := comparable(&parts[0], &p); err != nil {
				return nil, err
			}
		}
		parts = append(parts, p)
	}

	return parts, nil
}

func partFailure(path string, err error) error {
	hint := ""
	if errors.Is(err, input.ErrNoSummary) {
		hint = "the run that wrote it was interrupted, or it is the report of one receipt from a larger report"
	} else if errors.Is(err, input.ErrNotReport) {
		hint = "create a report with receipt verify --format json PATH… >REPORT"
	}
	return cli.Usage(hint, "%q: %w", cli.SourceName(path), err)
}

// comparable returns an error if the verdicts of two parts have different meanings.
func comparable(a, b *part) error {
	var differ *stream.IncomparableError
	err := a.Comparable(b.Summary)
	if !errors.As(err, &differ) {
		return err
	}

	names := fmt.Sprintf("%q and %q", cli.SourceName(a.path), cli.SourceName(b.path))
	switch differ.What {
	case "scope":
		return cli.Usage("verify all parts with keys, or all with --integrity-only", "%s: one covers integrity only, the other also covers signatures", names)
	case "keys":
		return cli.Usage("verify all parts with the same --keys FILE", "%s have different files of trusted keys", names)
	}
	return cli.Usage("verify all parts with the same --issuer, --at, --strict, --policy, --commit, and --subject", "%s have different requirements: %s", names, differ.What)
}

// mergeAll merges the two halves of a list recursively, so that each part is merged only a few
// times.
func mergeAll(parts []part) (*stream.Summary, error) {
	if len(parts) == 1 {
		return parts[0].Summary, nil
	}
	left, err := mergeAll(parts[:len(parts)/2])
	if err != nil {
		return nil, err
	}
	right, err := mergeAll(parts[len(parts)/2:])
	if err != nil {
		return nil, err
	}
	return left.Merge(right)
}

// writeMerged writes the lines that the command "verify" writes after its results.
func writeMerged(b *bytes.Buffer, color bool, s *stream.Summary, reports int) {
	p := print.ListPrinter{Totals: print.NewTotals(color, false)}

	// A summary counts codes without separating them by verdict.
	for code, n := range s.Codes {
		codes := p.Codes[receipt.Undecided]
		if refuted(s, code) {
			codes = p.Codes[receipt.Refuted]
		}
		codes[code] = n
	}

	writeFindings(b, color, s)
	print.Footer(b, "reports", cli.Count(reports))
	if slices.ContainsFunc(s.Findings, func(f stream.Finding) bool { return f.Drawn }) {
		print.Footer(b, "counts", "each receipt as in the report of its part; faults between parts are findings about the whole input")
	}
	if len(s.Streams) > cli.MaxStreams {
		print.Footer(b, "streams", cli.Count(len(s.Streams))+", --format json lists their heads")
	} else {
		p.Streams(b, s)
	}

	var older []string
	if s.Unchecked == nil && s.Receipts > 0 {
		older = []string{"steps that single receipts leave unchecked: a report of an older version does not record them"}
	}
	print.NotChecked(b, s, "", older...)
	print.Notices(b, "not read", s.Inputs.Unreadable, len(s.Inputs.Unreadable))
	if s.Keys != nil {
		print.Footer(b, "keys", fmt.Sprintf("%s (%d)", s.Keys.Path, s.Keys.Count))
	}

	whole := *s
	whole.Started, whole.Finished = receipt.Time{}, receipt.Time{} // parts may have been verified days apart, so the difference is not the duration of a run
	fmt.Fprintln(b, p.Totals.Line(&whole))
}

// maxFindings is the maximum number of findings that are printed. It is the same as the default of
// "receipt verify --limit".
const maxFindings = 20

// refuted reports whether receipts with a given code are refuted instead of undecided.
func refuted(s *stream.Summary, code receipt.Code) bool {
	info, _ := receipt.Lookup(code)
	return s.Refuted > 0 && (s.Undecided == 0 || info.Outcome == receipt.OutcomeRefutes || info.Outcome == receipt.OutcomeNotCounted)
}

// writeFindings writes the findings about the entire input and the notes that leave the result
// undecided.
func writeFindings(b *bytes.Buffer, color bool, s *stream.Summary) {
	line := func(name string, v receipt.Verdict, code receipt.Code, text string) {
		fmt.Fprintf(b, "%s: %s, %s: %s\n", cli.EscapeLine(name), print.PaintIf(color, v, v.String()), code, cli.EscapeLine(text))
	}

	findings := s.Findings
	for i, f := range findings {
		if i == maxFindings {
			fmt.Fprintf(b, "and %s more findings about the whole\n", cli.Count(len(findings)-i))
			break
		}
		line(print.FindingName(f), receipt.Refuted, f.Code, f.Detail)
	}

	for _, n := range s.NotChecked {
		if n.Undecides() {
			line("the input", receipt.Undecided, n.Code, n.Detail)
		}
	}

	if b.Len() > 0 {
		b.WriteByte('\n')
	}
}

// overlapOf returns a message if two parts list the same receipt, and "" otherwise.
func overlapOf(parts []part) string {
	holder := map[canon.Digest]int{}
	for i, p := range parts {
		for _, d := range p.Listed {
			if first, there := holder[d]; there && first != i {
				return fmt.Sprintf("%q and %q both contain the receipt %s, so it was counted twice: verify the parts together, or split them without overlap",
					cli.SourceName(parts[first].path), cli.SourceName(p.path), d)
			}
			holder[d] = i
		}
	}
	return ""
}
