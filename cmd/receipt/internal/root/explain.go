package root

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/print"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

func newExplain(e *cli.Env) *cobra.Command {
	var markdown bool
	var output cli.OutputFlags
	cmd := &cobra.Command{
		Use:   "explain [CODE]",
		Short: "explain a code of a report or ledger",
		Long: `Explain a code: where it is found, its effect on the verdict, its meaning, and
what to do. Without a code, list all codes.`,
		Example: `  receipt explain hash_mismatch
  receipt explain`,
		ValidArgsFunction: func(*cobra.Command, []string, string) (list []cobra.Completion, _ cobra.ShellCompDirective) {
			for _, info := range codes() {
				list = append(list, string(info.Code))
			}
			return list, cobra.ShellCompDirectiveNoFileComp
		},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usage("", "expected one code, found %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var b bytes.Buffer
			switch {
			case markdown:
				codesPage(&b)
			case len(args) == 0:
				listCodes(&b)
			default:
				all := codes()
				i := slices.IndexFunc(all, func(info receipt.CodeInfo) bool { return string(info.Code) == args[0] })
				if i < 0 {
					return cli.Usage("list all codes with receipt explain", "unknown code %q%s", args[0], nearest(args[0]))
				}
				explainCode(&b, all[i])
			}

			return output.Write(e, b.Bytes(), 0o644)
		},
	}

	cmd.Flags().BoolVar(&markdown, "markdown", false, "write the page of all codes as Markdown")
	output.Register(cmd.Flags(), "output (`FILE`)")
	return cmd
}

// codes returns the codes of reports, followed by those of ledgers.
func codes() []receipt.CodeInfo {
	return slices.Concat(receipt.Codes(), ledger.FaultCodes())
}

func explainCode(w io.Writer, info receipt.CodeInfo) {
	fmt.Fprintf(w, "%s\n  found in   %s\n  outcome    %s\n", info.Code, info.Where, outcomeText(info))
	fmt.Fprintf(w, "  meaning    %s\n", cli.Wrap(info.Meaning, 13))
	fmt.Fprintf(w, "  next       %s\n", cli.Wrap(print.Next(info), 13))
}

func outcomeText(info receipt.CodeInfo) string {
	switch info.Outcome {
	case receipt.OutcomeRefutes:
		return "refuted (exit 1)"
	case receipt.OutcomeUndecides:
		return "undecided (exit 3)"
	case receipt.OutcomeNotCounted:
		return "the signature does not count; refuted if the policy is then not met (exit 1)"
	case receipt.OutcomeInforms:
		return "reported, with no effect on the verdict; undecided with --strict if the step was not checked (exit 3)"
	case receipt.OutcomeWarns:
		if info.Where == "not checked" {
			return "reported, with no effect on the verdict"
		}
		return "a warning, with no effect on the verdict"
	}
	return "the file is not used (exit 2)"
}

func listCodes(w io.Writer) {
	for _, info := range codes() {
		fmt.Fprintf(w, "%-26s %-12s %s\n", info.Code, info.Where, info.Outcome)
	}
}

func codesPage(w io.Writer) {
	fmt.Fprint(w, `# Codes

Every finding has a code that programs may rely on. Codes are never renamed; new codes
may be added. `+"`receipt explain CODE`"+` prints the same texts. This page is generated
by `+"`go generate ./cmd/receipt`"+`.
`)
	where := ""
	for _, info := range codes() {
		if info.Where != where {
			where = info.Where
			fmt.Fprintf(w, "\n## %s\n\n| code | outcome | meaning | what to do |\n|---|---|---|---|\n", title(info))
		}
		fmt.Fprintf(w, "| `%s` | %s | %s | %s |\n", info.Code, outcomeText(info), cli.Cell(info.Meaning), cli.Cell(print.Next(info)))
	}
}

func title(info receipt.CodeInfo) string {
	if info.Code == receipt.CodeReplaySourceMismatch { // the first code of package replay, which extends the step hash
		return "Replay"
	}
	switch info.Where {
	case "warning":
		return "Warnings"
	case "not checked":
		return "What was not checked"
	case "input":
		return "Inputs"
	case "key set":
		return "Key files"
	case "ledger":
		return "Ledgers"
	}
	return "Step " + info.Where
}

// nearest suggests the codes that are most similar to typed, starting with the most similar.
func nearest(typed string) string {
	typed = strings.ReplaceAll(strings.ToLower(typed), "-", "_")

	// No code has this length, and the time to compute the distance is proportional to the product
	// of both lengths.
	if len(typed) > 64 {
		return ""
	}

	// Up to a third of the letters may differ. Codes that only share a word are listed after
	// similar codes.
	far := func(code string) int {
		shared := func(word string) bool { return len(word) > 3 && strings.Contains(code, word) }
		switch d := cli.Distance(typed, code); {
		case d <= max(len(typed), len(code))/3:
			return d
		case len(typed) > 2 && strings.Contains(code, typed), strings.Contains(typed, code), slices.ContainsFunc(strings.Split(typed, "_"), shared):
			return 100 + d // these come after codes that are probably misspelled
		}
		return -1
	}

	var found []string
	for _, info := range codes() {
		if code := string(info.Code); far(code) >= 0 {
			found = append(found, code)
		}
	}
	if len(found) == 0 {
		return ""
	}
	slices.SortStableFunc(found, func(a, b string) int { return far(a) - far(b) })
	return "; did you mean " + strings.Join(found[:min(len(found), 4)], ", ") + "?"
}
