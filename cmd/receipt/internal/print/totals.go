package print

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// Totals counts findings by verdict and code for the last line of the output.
type Totals struct {
	Codes map[receipt.Verdict]map[receipt.Code]int
	color bool
	timed bool // whether to include the duration; set only on a terminal, so that results in files are reproducible
}

// NewTotals returns the totals of a run without findings.
func NewTotals(color, timed bool) Totals {
	return Totals{map[receipt.Verdict]map[receipt.Code]int{receipt.Refuted: {}, receipt.Undecided: {}}, color, timed}
}

// Line returns the last line of the output. It contains the verdict of the run, the number of
// receipts with this verdict, and the numbers of receipts with other verdicts.
func (t *Totals) Line(s *stream.Summary) string {
	// If signatures were not checked, the verdict is called intact, because anyone can write a
	// receipt that matches its hash.
	verdict := s.Verdict()
	good, name := receipt.Verified.String(), verdict.String()
	if s.Scope == receipt.ScopeIntegrity {
		good = "intact"
	}
	if verdict == receipt.Verified {
		name = good
	}

	// The number that determined the verdict comes first.
	of := " of " + cli.Plural(s.Receipts, "receipt", "")
	var parts []string
	switch {
	case verdict == receipt.Refuted && s.Refuted == 0:
		parts = []string{wholeFindings(s), cli.Count(s.Verified) + of + " " + good, cli.Count(s.Undecided) + " undecided" + t.codeCounts(s, receipt.Undecided)}
	case verdict == receipt.Refuted:
		parts = []string{cli.Count(s.Refuted) + of + t.codeCounts(s, receipt.Refuted), cli.Count(s.Verified) + " " + good,
			cli.Count(s.Undecided) + " undecided" + t.codeCounts(s, receipt.Undecided)}
		if len(s.Findings) > 0 {
			parts = append(parts, wholeFindings(s))
		}
	case s.Undecided > 0:
		parts = []string{cli.Count(s.Undecided) + of + t.codeCounts(s, receipt.Undecided), cli.Count(s.Verified) + " " + good}
	case verdict == receipt.Verified:
		parts = []string{cli.Count(s.Verified) + of}
	case s.Receipts == 0:
		parts = []string{"no receipts"}
	default: // an input could not be read
		parts = []string{cli.Count(s.Verified) + of + " " + good}
	}

	if counts := map[receipt.Code]int{}; len(unusedEvidence(s)) > 0 {
		for _, n := range unusedEvidence(s) {
			counts[n.Code]++
		}
		parts = append(parts, "unused evidence"+CodeCounts(counts))
	}

	if s.Copies > 0 {
		parts = append(parts, copies(s.Copies))
	}

	if n := len(s.Inputs.Unreadable); n > 0 {
		how := map[string]int{}
		for _, n := range s.Inputs.Unreadable {
			how[notReadAs(n.After > 0)]++
		}
		for _, as := range slices.Sorted(maps.Keys(how)) {
			parts = append(parts, cli.Plural(how[as], "input", as))
		}
	} else if !s.Complete {
		parts = append(parts, "not read to the end")
	}

	if d := s.Finished.Sub(s.Started.Time); t.timed && d > 0 {
		parts = append(parts, elapsedText(d))
	}
	return PaintIf(t.color, verdict, name) + ": " + strings.Join(parts, ", ")
}

// notReadAs describes an input that was not read, or of which only a beginning was read.
func notReadAs(begun bool) string {
	if begun {
		return "not read to the end"
	}
	return "not read"
}

// whyNotRead returns the reason why an input was not read, and the position up to which it was read.
func whyNotRead(n stream.Notice) string {
	if n.After > 0 {
		return fmt.Sprintf("%s, after :%d", n.Detail, n.After)
	}
	return n.Detail
}

// wholeFindings counts the findings about the entire input, by code.
func wholeFindings(s *stream.Summary) string {
	codes := map[receipt.Code]int{}
	for _, f := range s.Findings {
		codes[f.Code]++
	}
	return cli.Plural(len(s.Findings), "finding", "about the whole input") + CodeCounts(codes)
}

// elapsedText formats a duration in tenths of a second or in larger units.
func elapsedText(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return cli.DurationText(d.Round(time.Second))
}

func copies(n int) string {
	if n == 1 {
		return "1 copy"
	}
	return cli.Count(n) + " copies"
}

// codeCounts returns a string such as " (code 3, code 1)" for the receipts with a verdict. The
// counts in t include copies. The counts in the summary exclude copies, but are not separated by
// verdict.
func (t *Totals) codeCounts(s *stream.Summary, v receipt.Verdict) string {
	others := t.Codes[receipt.Refuted]
	if v == receipt.Refuted {
		others = t.Codes[receipt.Undecided]
	}

	// The counts in the summary are used only for codes that occur with a single verdict.
	codes := map[receipt.Code]int{}
	for c, n := range t.Codes[v] {
		if others[c] == 0 {
			n = s.Codes[c]
		}
		if n > 0 {
			codes[c] = n
		}
	}
	return CodeCounts(codes)
}

// CodeCounts returns a string such as " (code 3, code 1)", or "" if there are no codes.
func CodeCounts(of map[receipt.Code]int) string {
	var codes []string
	for _, c := range slices.Sorted(maps.Keys(of)) {
		codes = append(codes, fmt.Sprintf("%s %s", c, cli.Count(of[c])))
	}
	if len(codes) == 0 {
		return ""
	}
	return " (" + strings.Join(codes, ", ") + ")"
}
