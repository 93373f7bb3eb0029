package print

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A githubPrinter writes the totals, and workflow commands, which GitHub displays as annotations of
// files. GitHub displays ten errors and ten warnings per step. If there are more problems, each
// cause has one annotation, which lists the other places. Nothing is written before the end of the
// run, so that errors come first.
type githubPrinter struct {
	w                io.Writer
	errors, warnings annotations
}

// maxAnnotations is the number of annotations of each level that GitHub displays.
const maxAnnotations = 10

// An annotation is one workflow command.
type annotation struct {
	file        string
	line        int
	title, text string
}

// An annotations value contains the annotations of one level, grouped by cause.
type annotations struct {
	level  string
	first  []annotation // the first annotations, at most maxAnnotations, in order
	count  int
	causes map[string]*annotated
	order  []string // keys of causes, in order
}

// An annotated cause contains the first annotation for a cause, and the places of the other
// annotations.
type annotated struct {
	annotation
	count  int
	places []string // the next maxAnnotations
}

func newGithubPrinter(w io.Writer) *githubPrinter {
	return &githubPrinter{w, newAnnotations("error"), newAnnotations("warning")}
}

func newAnnotations(level string) annotations {
	return annotations{level: level, causes: map[string]*annotated{}}
}

func (p *githubPrinter) Report(rep *receipt.Report, _ []byte) error {
	if rep.Verdict == receipt.Verified {
		return nil
	}
	f := rep.Finding()
	a := annotation{file: rep.Source, title: fmt.Sprintf("%s, %s", Word(rep), coded(f.Code, f.Cause)), text: ReasonLine(f)}
	if rep.Listed {
		a.line, a.text = lineOf(rep.Source, rep.Index, a.text)
	}

	// For an undecided receipt, the cause is the reason. For a refuted receipt, the cause is the
	// code.
	if rep.Verdict == receipt.Refuted {
		p.errors.add(a, a.title, rep.Address())
	} else {
		p.warnings.add(a, a.title+"\x00"+ReasonLine(f), rep.Address())
	}
	return nil
}

// add adds an annotation for a cause at a place.
func (l *annotations) add(a annotation, cause, place string) {
	if l.count++; l.count <= maxAnnotations {
		l.first = append(l.first, a)
	}

	// The number of causes is limited, and further causes are combined.
	c := l.causes[cause]
	if c == nil && len(l.causes) >= maxGroups {
		cause = ""
		a.title, a.text = "others", "other causes"
		c = l.causes[cause]
	}

	if c == nil {
		l.causes[cause] = &annotated{annotation: a, count: 1}
		l.order = append(l.order, cause)
		return
	}
	if c.count++; len(c.places) < maxAnnotations {
		c.places = append(c.places, place)
	}
}

// append writes all annotations if GitHub displays all of them. Otherwise, it writes one annotation
// per cause. Annotations that GitHub would not display are written as plain lines, which appear in
// the log.
func (l *annotations) append(b *bytes.Buffer) {
	if l.count <= maxAnnotations {
		for _, a := range l.first {
			a.append(b, l.level)
		}
		return
	}

	// GitHub displays a limited number of annotations. The next causes are written as lines,
	// followed by the number of all remaining causes.
	for i, cause := range l.order {
		c := l.causes[cause]
		c.text += c.others()
		switch {
		case i < maxAnnotations:
			c.append(b, l.level)
		case i < 2*maxAnnotations:
			fmt.Fprintf(b, "%s: %s: %s\n", logged(c.place()), logged(c.title), logged(c.text))
		default:
			fmt.Fprintf(b, "and %s more causes\n", cli.Count(len(l.order)-i))
			return
		}
	}
}

// others lists the other places with the same cause.
func (c *annotated) others() string {
	if c.count == 1 {
		return ""
	}
	more := ""
	if c.count-1 > len(c.places) {
		more = ", …"
	}
	return fmt.Sprintf(" (and %s more of this cause: %s%s)", cli.Count(c.count-1), strings.Join(c.places, ", "), more)
}

func (a *annotation) place() string {
	switch {
	case a.file == "":
		return "the input"
	case a.line == 0:
		return a.file
	}
	return fmt.Sprintf("%s:%d", a.file, a.line)
}

func (a *annotation) append(b *bytes.Buffer, level string) {
	var properties []string
	if a.file != "" {
		properties = append(properties, "file="+property(a.file))
	}
	if a.line > 0 {
		properties = append(properties, fmt.Sprintf("line=%d", a.line))
	}
	properties = append(properties, "title="+property(a.title))
	fmt.Fprintf(b, "::%s %s::%s\n", level, strings.Join(properties, ","), message(a.text))
}

// logged escapes text in a line that is not a workflow command. The runner also executes commands
// in the older form, ##[command], anywhere in a line.
func logged(s string) string { return strings.ReplaceAll(cli.EscapeLine(s), "##[", "# [") }

// message and property escape text as workflow commands require. Control characters are first
// replaced with escapes.
func message(s string) string { return strings.ReplaceAll(cli.EscapeLine(s), "%", "%25") }

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(message(s))
}

func (p *githubPrinter) End(s *stream.Summary) error {
	for _, f := range s.Findings {
		title := "refuted, " + coded(f.Code, f.Cause)
		a := annotation{file: f.Source, title: title, text: FindingName(f) + ": " + f.Detail}
		if file, line := splitAddress(f.Source); file != a.file {
			a.file = file
			a.line, a.text = lineOf(file, line, a.text)
		}
		p.errors.add(a, "whole\x00"+title, FindingName(f))
	}

	for _, n := range s.Inputs.Unreadable {
		p.errors.add(annotation{file: n.Source, title: notReadAs(n.After > 0), text: whyNotRead(n)}, "not read", n.Source)
	}

	// Unused evidence leaves the input undecided.
	for _, n := range unusedEvidence(s) {
		title := "undecided, " + string(n.Code)
		p.warnings.add(annotation{title: title, text: n.Detail}, title, n.Detail)
	}

	if err := p.Interrupted(); err != nil {
		return err
	}

	// Everything else is printed as lines, because GitHub limits the number of annotations.
	var b bytes.Buffer
	for _, n := range unchecked(s) {
		fmt.Fprintf(&b, "not checked: %s\n", logged(n.Detail))
	}
	fmt.Fprintln(&b, new(Totals).Line(s))
	_, err := p.w.Write(b.Bytes())
	return err
}

// Interrupted writes the findings that a failed run has collected so far.
func (p *githubPrinter) Interrupted() error {
	var b bytes.Buffer
	p.errors.append(&b)
	p.warnings.append(&b)
	_, err := p.w.Write(b.Bytes())
	return err
}
