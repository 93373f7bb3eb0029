package replays

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

func newCompare(e *cli.Env) *cobra.Command {
	strict, format := false, ""
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "say where the receipts of two replays differ",
		Long: `Compare the receipts of two replays of one log and one request, by JSON Pointer.
What neither fixes is left out: ids of the receipt and of the task, issuer, issued_at,
chain, signatures, metadata. With --strict all but the signatures counts.

Exit codes: 0 when they are the same, 1 when they differ, 2 when one of them could
not be read.`,
		Example: `  receipt replay compare mine.json theirs.json
  receipt replay compare mine.json theirs.json --strict --format json`,
		Args: cli.ExactArgs(2, "two receipts"),
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] == cli.StdinName && args[1] == cli.StdinName {
				return cli.Usage("", "- is given twice, but stdin can be read once")
			}
			if format != "text" && format != "json" {
				return cli.Usage("", "--format is text or json, found %q", format)
			}
			level := replay.Projection
			if strict {
				level = replay.Strict
			}
			return compare(e, args[0], args[1], level, format)
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "compare all but the signatures")
	cmd.Flags().StringVar(&format, "format", "text", "`FORM` of the differences: text or json")
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

// unreadable turns a refusal into exit 2: with what is no receipt nothing is compared.
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
