package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A githubPrinter writes workflow commands, which GitHub shows as annotations of
// files, and the total. GitHub shows ten of a step, so no more are written.
type githubPrinter struct {
	w       io.Writer
	written int
	left    int
}

const maxAnnotations = 10

func (p *githubPrinter) report(rep *receipt.Report, _ []byte) error {
	if rep.Verdict == receipt.Verified {
		return nil
	}
	level := "error"
	if rep.Verdict == receipt.Undecided {
		level = "warning"
	}
	line := 0
	if rep.Listed {
		line = rep.Index
	}
	f := rep.Finding()
	return p.annotate(level, rep.Source, line, fmt.Sprintf("%s, %s", word(rep), f.Code), reasonLine(f))
}

func (p *githubPrinter) annotate(level, file string, line int, title, text string) error {
	if p.written >= maxAnnotations {
		p.left++
		return nil
	}
	p.written++
	var properties []string
	if file != "" {
		properties = append(properties, "file="+property(file))
	}
	if line > 0 {
		properties = append(properties, fmt.Sprintf("line=%d", line))
	}
	properties = append(properties, "title="+property(title))
	_, err := fmt.Fprintf(p.w, "::%s %s::%s\n", level, strings.Join(properties, ","), message(text))
	return err
}

// message and property escape text as the commands demand, after controls have
// been written as escapes.
func message(s string) string { return strings.ReplaceAll(escapeLine(s), "%", "%25") }

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(message(s))
}

func (p *githubPrinter) end(s *stream.Summary) error {
	for _, f := range s.AllFindings() {
		if err := p.annotate("error", f.Source, 0, "refuted, "+string(f.Code), findingName(f)+": "+f.Detail); err != nil {
			return err
		}
	}
	for _, n := range s.Inputs.Unreadable {
		if err := p.annotate("error", n.Source, 0, "not read", n.Detail); err != nil {
			return err
		}
	}
	if p.left > 0 {
		fmt.Fprintf(p.w, "and %s more\n", count(p.left))
	}
	_, err := fmt.Fprintln(p.w, new(totals).line(s))
	return err
}
