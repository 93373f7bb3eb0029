package print

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A markdownPrinter writes a job summary for GitHub in Markdown. GitHub accepts 1 MiB per step.
type markdownPrinter struct {
	problems
	w io.Writer
}

// Limits for the list of problems in a job summary, in number and in bytes.
const (
	maxRows     = 200
	maxMarkdown = 512 << 10
)

func (p *markdownPrinter) End(s *stream.Summary) error {
	p.end(s)
	var b bytes.Buffer
	line := new(Totals).Line(s)
	name, _, _ := strings.Cut(line, ": ")
	fmt.Fprintf(&b, "## Receipts: %s\n\n%s\n", name, line)

	rows, more := listed(&p.problems, maxRows, maxMarkdown, func(f *problem) string {
		return fmt.Sprintf("%s: %s: %s", f.title, code(cmp.Or(f.subject, f.place)), code(f.text))
	})
	list(&b, "Findings", rows)
	if more > 0 {
		fmt.Fprintf(&b, "\n%s not listed here.\n", cli.Plural(more, "more finding", ""))
	}

	var open []string
	for _, n := range p.notes {
		open = append(open, code(n.Detail))
	}
	list(&b, "Not checked", open)
	_, err := p.w.Write(b.Bytes())
	return err
}

// list writes a heading and a list, unless the list is empty.
func list(b *bytes.Buffer, heading string, rows []string) {
	for i, row := range rows {
		if i == 0 {
			fmt.Fprintf(b, "\n### %s\n\n", heading)
		}
		fmt.Fprintf(b, "* %s\n", row)
	}
}

// code formats a string as a code span, in which Markdown and HTML have no special meaning.
func code(text string) string {
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + " " + cli.EscapeLine(text) + " " + fence
}
