package print

import (
	"encoding/json"
	"io"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A qualityPrinter writes a GitLab code quality report, which is a JSON array. It contains an issue
// for each problem, and for each note about a check that was not made.
type qualityPrinter struct {
	problems
	w io.Writer
}

type qualityIssue struct {
	Description string          `json:"description"`
	Check       receipt.Code    `json:"check_name"`
	Fingerprint string          `json:"fingerprint"`
	Severity    string          `json:"severity"`
	Location    qualityLocation `json:"location"`
}

type qualityLocation struct {
	Path  string `json:"path"`
	Lines struct {
		Begin int `json:"begin"`
	} `json:"lines"`
}

func (p *qualityPrinter) End(s *stream.Summary) error {
	p.end(s)
	list, more := listed(&p.problems, maxProblems, maxSarif, issueOf)

	// Everything else is reported as issues of the lowest severity. These issues must also refer to
	// a file.
	notes := p.notes
	if more > 0 {
		notes = append([]receipt.Note{{Code: "not_listed", Detail: cli.Plural(more, "problem", "not listed")}}, notes...)
	}
	for _, n := range notes {
		rest := p.complete(problem{level: levelNote, rule: n.Code, title: "not checked", text: cli.EscapeLine(n.Detail), id: n.Pointer})
		list = append(list, issueOf(&rest))
	}

	e := json.NewEncoder(p.w)
	e.SetIndent("", " ")
	return e.Encode(append([]qualityIssue{}, list...))
}

func issueOf(f *problem) qualityIssue {
	severity := map[level]string{levelError: "critical", levelWarning: "major", levelNote: "info"}[f.level]
	i := qualityIssue{Description: f.title + ": " + f.whole(), Check: f.rule, Fingerprint: f.id, Severity: severity}
	i.Location.Path, i.Location.Lines.Begin = cli.EscapeLine(f.source), max(f.line, 1) // the format requires a line
	return i
}
