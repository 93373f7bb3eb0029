package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A listPrinter writes several receipts for a person: what is refuted as it
// comes, what is undecided grouped by its cause, and a last line with the total.
type listPrinter struct {
	textPrinter
	limit   int
	inputs  int
	printed map[receipt.Code]int
	open    map[string]*group
	causes  []string // the keys of open, as they came
}

// A group is the undecided receipts of one cause.
type group struct {
	count int
	first string
	text  string
}

// few is how many inputs still get a block for each finding.
const few = 3

func (p *listPrinter) report(rep *receipt.Report, doc *canon.Document) error {
	switch {
	case rep.Verdict == receipt.Verified:
		return nil
	case p.inputs <= few:
		return p.textPrinter.report(rep, doc)
	case rep.Verdict == receipt.Refuted:
		return p.line(rep)
	}
	p.group(rep)
	return nil
}

func (p *listPrinter) line(rep *receipt.Report) error {
	f := rep.Finding()
	if p.printed[f.Code]++; p.printed[f.Code] > p.limit {
		return nil
	}
	_, err := fmt.Fprintf(p.w, "%s: %s, %s: %s\n", escapeLine(rep.Source), p.paint(rep.Verdict, rep.Verdict.String()), f.Code, escapeLine(reasonLine(f)))
	return err
}

func reasonLine(f receipt.Check) string {
	switch {
	case f.Stated != "" && f.Computed != "":
		return "stated " + f.Stated + ", computed " + f.Computed
	case f.Pointer != "":
		return "at " + f.Pointer + ": " + f.Detail
	}
	return f.Detail
}

func (p *listPrinter) group(rep *receipt.Report) {
	f := rep.Finding()
	text := f.Detail
	if f.Code == receipt.CodeUnknownKey && p.file != nil {
		text = unknownKeys(rep, p.file)
	}
	cause := string(f.Code) + "\x00" + text
	g := p.open[cause]
	if g == nil {
		g = &group{first: rep.Source, text: fmt.Sprintf("%s: %s", f.Code, text)}
		p.open[cause] = g
		p.causes = append(p.causes, cause)
	}
	g.count++
}

func (p *listPrinter) end(s *summary) error {
	var b bytes.Buffer
	for code, n := range sortedCodes(p.printed) {
		if n > p.limit {
			fmt.Fprintf(&b, "and %d more with %s\n", n-p.limit, code)
		}
	}
	for _, cause := range p.causes {
		g := p.open[cause]
		others := ""
		if g.count > 1 {
			others = fmt.Sprintf(" and %d more", g.count-1)
		}
		fmt.Fprintf(&b, "%s%s: %s, %s\n", escapeLine(g.first), others, p.paint(receipt.Undecided, "undecided"), escapeLine(g.text))
	}
	fmt.Fprintf(&b, "not checked  how these receipts join: each was verified alone\n")
	if p.file != nil {
		fmt.Fprintf(&b, "keys         %s (%d)\n", escapeLine(p.file.path), p.file.set.Len())
	}
	fmt.Fprintln(&b, p.total(s))
	_, err := p.w.Write(b.Bytes())
	return err
}

func sortedCodes(m map[receipt.Code]int) func(func(receipt.Code, int) bool) {
	return func(yield func(receipt.Code, int) bool) {
		var codes []receipt.Code
		for c := range m {
			codes = append(codes, c)
		}
		slices.Sort(codes)
		for _, c := range codes {
			if !yield(c, m[c]) {
				return
			}
		}
	}
}

func (p *listPrinter) total(s *summary) string {
	name := s.Verdict.String()
	if s.Verdict == receipt.Verified && s.Scope == receipt.ScopeIntegrity {
		name = "intact"
	}
	var codes []string
	for c, n := range sortedCodes(s.Codes) {
		codes = append(codes, fmt.Sprintf("%s %d", c, n))
	}
	counts := fmt.Sprintf("%d refuted, %d verified, %d undecided", s.Refuted, s.Verified, s.Undecided)
	if len(codes) > 0 {
		counts += " (" + strings.Join(codes, ", ") + ")"
	}
	if n := len(s.Inputs.Unreadable); n > 0 {
		counts += fmt.Sprintf(", %d could not be read", n)
	}
	return fmt.Sprintf("%s: of %d receipts %s", p.paint(s.Verdict, name), s.Receipts, counts)
}
