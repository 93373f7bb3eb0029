package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A textPrinter writes a block for one receipt, for a person.
type textPrinter struct {
	w     io.Writer
	color bool
	file  *keyFile
}

func (p *textPrinter) report(rep *receipt.Report, doc *canon.Document) error {
	b := p.block(rep, doc)
	if p.file != nil {
		b.row("keys", p.file.String())
	}
	_, err := p.w.Write(b.Bytes())
	return err
}

// block lays out all that is to be said of one receipt, but for the keys.
func (p *textPrinter) block(rep *receipt.Report, doc *canon.Document) *block {
	b := &block{}
	p.headline(b, rep)
	switch rep.Verdict {
	case receipt.Verified:
		p.verified(b, rep, doc)
	case receipt.Refuted:
		p.refuted(b, rep, doc)
	default:
		p.undecided(b, rep, doc)
	}
	p.steps(b, rep)
	p.notTold(b, doc)
	for _, w := range rep.Warnings {
		b.row("warning", w.Detail)
	}
	return b
}

// notTold names what the receipt says that its source did not tell, which is no
// statement, and what may be more than happened.
func (p *textPrinter) notTold(b *block, doc *canon.Document) {
	p.pointers(b, "not told", receipt.ReadUnreported(doc.Root()), ", by the source")
	p.pointers(b, "at most", receipt.ReadAtMost(doc.Root()), ": may hold more than happened")
}

func (p *textPrinter) pointers(b *block, label string, list []string, what string) {
	if len(list) == 0 {
		return
	}
	text := strings.Join(list[:min(len(list), mostUntold)], " ")
	if more := len(list) - mostUntold; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	b.row(label, text+what)
}

// A block is lines of a label and a text. All text that it is given is escaped,
// line feeds too: nothing in a receipt can look like a line of ours.
type block struct{ bytes.Buffer }

func (b *block) row(label, text string) {
	fmt.Fprintf(b, "  %-*s%s\n", labelWidth, label, escapeLine(text))
}

// rows is a row of several lines, for commands that are to be copied whole.
func (b *block) rows(label string, lines ...string) {
	for _, line := range lines {
		b.row(label, line)
		label = ""
	}
}

// sub is a row of the row above.
func (b *block) sub(label, text string) {
	if text != "" {
		fmt.Fprintf(b, "    %-*s%s\n", labelWidth-2, label, escapeLine(text))
	}
}

// prose is a row that may need several lines.
func (b *block) prose(label, text string) {
	lines := strings.Split(wrap(escapeLine(text), labelWidth+2), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	b.rows(label, lines...)
}

func (p *textPrinter) headline(b *block, rep *receipt.Report) {
	text := p.paint(rep.Verdict, word(rep))
	if rep.Verdict != receipt.Verified {
		text += ", " + string(rep.Finding().Code)
	}
	fmt.Fprintf(b, "%s: %s\n", escapeLine(rep.Source), text)
}

// word is the verdict in a word. Integrity alone is never called verified:
// anyone can write a receipt that fits its own hash.
func word(rep *receipt.Report) string {
	if rep.Verdict == receipt.Verified && rep.Scope == receipt.ScopeIntegrity {
		return "intact"
	}
	return rep.Verdict.String()
}

func (p *textPrinter) paint(v receipt.Verdict, text string) string { return paintIf(p.color, v, text) }

func paintIf(color bool, v receipt.Verdict, text string) string {
	if !color {
		return text
	}
	switch v {
	case receipt.Verified:
		return "\x1b[32m" + text + "\x1b[0m"
	case receipt.Refuted:
		return "\x1b[31m" + text + "\x1b[0m"
	}
	return "\x1b[33m" + text + "\x1b[0m"
}

func (p *textPrinter) verified(b *block, rep *receipt.Report, doc *canon.Document) {
	root := doc.Root()
	task := root.Member("identifiers").Member("task_id").String()
	state := root.Member("lifecycle").Member("final_state").String()
	b.row("receipt", fmt.Sprintf("%s · task %s %s", rep.ReceiptID.String(), task, state))
	issued := fmt.Sprintf("%s by %s", root.Member("issued_at").String(), issuerText(root))
	b.row("issued", issued)
	b.row("hash", rep.ReceiptHash.String())
	for _, s := range rep.Signatures {
		p.signature(b, s, root)
	}
}

func issuerText(root canon.Node) string {
	issuer := root.Member("issuer")
	text := issuer.Member("id").String()
	if name := issuer.Member("name").String(); name != "" {
		text += ` "` + name + `"`
	}
	return text
}

func (p *textPrinter) signature(b *block, s receipt.SignatureResult, root canon.Node) {
	who := s.KeyID + ", " + s.Algorithm
	switch {
	case s.Role == receipt.RoleIssuer:
		b.row("signed by", who+", trusted for "+root.Member("issuer").Member("id").String())
	case s.Role == receipt.RoleWitness:
		b.row("witnessed by", who)
	default:
		b.prose("not counted", fmt.Sprintf("%s: %s", s.Code, cmp.Or(s.Detail, who)))
	}
}

// steps lists the steps that passed and those that were not checked. Of a
// verified receipt the latter say why; otherwise their names do.
func (p *textPrinter) steps(b *block, rep *receipt.Report) {
	var passed, names []string
	for _, c := range rep.Checks {
		switch {
		case c.Status == receipt.Passed:
			passed = append(passed, c.Step.String())
		case c.Status == receipt.NotChecked && c != rep.Finding():
			names = append(names, c.Step.String())
		}
	}
	if len(passed) > 0 {
		b.row("passed", strings.Join(passed, " "))
	}
	if rep.Verdict == receipt.Verified {
		label := "not checked"
		for _, n := range rep.NotChecked {
			b.prose(label, n.Detail)
			label = ""
		}
	} else if len(names) > 0 {
		b.row("not checked", strings.Join(names, " "))
	}
}
