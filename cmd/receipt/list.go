package main

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A listPrinter writes several receipts for a person: what is refuted as it
// comes, what is undecided grouped by its cause, and a last line with the total.
type listPrinter struct {
	textPrinter
	limit  int
	inputs int
	codes  map[receipt.Verdict]map[receipt.Code]int // of findings
	open   map[string]*group
	causes []string // the keys of open, as they came
}

func newListPrinter(e *env, limit, inputs int, file *keyFile) *listPrinter {
	return &listPrinter{
		textPrinter: textPrinter{w: e.out, color: e.colored(), file: file},
		limit:       limit,
		inputs:      inputs,
		codes:       map[receipt.Verdict]map[receipt.Code]int{receipt.Refuted: {}, receipt.Undecided: {}},
		open:        map[string]*group{},
	}
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
	if rep.Verdict == receipt.Verified {
		return nil
	}
	p.codes[rep.Verdict][rep.Finding().Code]++
	switch {
	case p.inputs <= few:
		b := p.block(rep, doc)
		b.WriteByte('\n')
		_, err := p.w.Write(b.Bytes())
		return err
	case rep.Verdict == receipt.Refuted:
		return p.line(rep)
	}
	p.group(rep)
	return nil
}

func (p *listPrinter) line(rep *receipt.Report) error {
	f := rep.Finding()
	if p.codes[receipt.Refuted][f.Code] > p.limit {
		return nil
	}
	_, err := fmt.Fprintf(p.w, "%s: %s, %s: %s\n", escapeLine(rep.Source), p.paint(rep.Verdict, rep.Verdict.String()), f.Code, escapeLine(reasonLine(f)))
	return err
}

func reasonLine(f receipt.Check) string {
	switch {
	case computed(f):
		return "stated " + f.Stated + ", computed " + f.Computed
	case f.Hint != "":
		return f.Hint
	case f.Pointer != "":
		return "at " + placed(f)
	}
	return f.Detail
}

func (p *listPrinter) group(rep *receipt.Report) {
	f := rep.Finding()
	text := p.cause(rep, f)
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
	for code, n := range sortedCodes(p.codes[receipt.Refuted]) {
		if n > p.limit && p.inputs > few {
			fmt.Fprintf(&b, "and %s more: %s, %s\n", count(n-p.limit), p.paint(receipt.Refuted, "refuted"), code)
		}
	}
	for _, cause := range p.causes {
		g := p.open[cause]
		others := ""
		if g.count > 1 {
			others = fmt.Sprintf(" and %s more", count(g.count-1))
		}
		fmt.Fprintf(&b, "%s%s: %s, %s\n", escapeLine(g.first), others, p.paint(receipt.Undecided, "undecided"), escapeLine(g.text))
	}
	if s.Receipts > 1 {
		fmt.Fprintf(&b, "not checked  how these receipts join: each was verified alone\n")
	}
	if p.file != nil {
		fmt.Fprintf(&b, "keys         %s\n", escapeLine(p.file.String()))
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

// total is the last line: the verdict of the run, how many receipts have it, and
// what became of the others.
func (p *listPrinter) total(s *summary) string {
	good, name := receipt.Verified.String(), s.Verdict.String()
	if s.Scope == receipt.ScopeIntegrity {
		good = "intact"
	}
	if s.Verdict == receipt.Verified {
		name = good
	}
	of := " of " + plural(s.Receipts, "receipt", "")
	var parts []string
	switch {
	case s.Refuted > 0:
		parts = []string{count(s.Refuted) + of + p.codeCounts(receipt.Refuted), count(s.Verified) + " " + good,
			count(s.Undecided) + " undecided" + p.codeCounts(receipt.Undecided)}
	case s.Undecided > 0:
		parts = []string{count(s.Undecided) + of + p.codeCounts(receipt.Undecided), count(s.Verified) + " " + good}
	case s.Verdict == receipt.Verified:
		parts = []string{count(s.Verified) + of}
	case s.Receipts == 0:
		parts = []string{"no receipts"}
	default: // something could not be read
		parts = []string{count(s.Verified) + of + " " + good}
	}
	if n := len(s.Inputs.Unreadable); n > 0 {
		parts = append(parts, plural(n, "input", "not read"))
	}
	if s.unread > 0 {
		parts = append(parts, plural(s.unread, "input", "left out by --fail-fast"))
	}
	return p.paint(s.Verdict, name) + ": " + strings.Join(parts, ", ")
}

func count(n int) string { return group3(strconv.Itoa(n)) }

// codeCounts is " (code 3, code 1)" for the receipts of a verdict.
func (p *listPrinter) codeCounts(v receipt.Verdict) string {
	var codes []string
	for c, n := range sortedCodes(p.codes[v]) {
		codes = append(codes, fmt.Sprintf("%s %s", c, count(n)))
	}
	if len(codes) == 0 {
		return ""
	}
	return " (" + strings.Join(codes, ", ") + ")"
}
