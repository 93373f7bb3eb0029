package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
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

func (p *textPrinter) end(*summary) error { return nil }

func (p *textPrinter) report(rep *receipt.Report, doc *canon.Document) error {
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
	for _, w := range rep.Warnings {
		b.row("warning", w.Detail)
	}
	if p.file != nil {
		b.row("keys", fmt.Sprintf("%s (%d)", filepath.Base(p.file.path), p.file.set.Len()))
	}
	_, err := p.w.Write(b.Bytes())
	return err
}

// A block is lines of a label and a text. All text that it is given is escaped.
type block struct{ bytes.Buffer }

const labelWidth = 13

func (b *block) row(label, text string) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(b, "  %-*s%s\n", labelWidth, label, escapeLine(line))
	}
}

// sub is a row of the row above.
func (b *block) sub(label, text string) {
	if text != "" {
		fmt.Fprintf(b, "    %-*s%s\n", labelWidth-2, label, escapeLine(text))
	}
}

// prose is a row that may need several lines. A text that has lines of its own,
// such as a command to copy, keeps them.
func (b *block) prose(label, text string) {
	if strings.Contains(text, "\n") {
		b.row(label, text)
		return
	}
	b.row(label, strings.ReplaceAll(wrap(text, labelWidth+2), "\n"+strings.Repeat(" ", labelWidth+2), "\n"))
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

func (p *textPrinter) paint(v receipt.Verdict, text string) string {
	if !p.color {
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
	b.row("receipt", fmt.Sprintf("%s · task %s %s", oneLine(rep.ReceiptID.String()), oneLine(task), state))
	issued := fmt.Sprintf("%s by %s", root.Member("issued_at").String(), issuerText(root))
	b.row("issued", oneLine(issued))
	b.row("hash", rep.ReceiptHash.String())
	for _, s := range rep.Signatures {
		p.signature(b, s, root)
	}
}

func issuerText(root canon.Node) string {
	issuer := root.Member("issuer")
	text := oneLine(issuer.Member("id").String())
	if name := issuer.Member("name").String(); name != "" {
		text += ` "` + oneLine(name) + `"`
	}
	return text
}

// oneLine escapes what would break a line, before the text is laid out.
func oneLine(s string) string { return escapeLine(s) }

func (p *textPrinter) signature(b *block, s receipt.SignatureResult, root canon.Node) {
	who := oneLine(s.KeyID) + ", " + oneLine(s.Algorithm)
	switch {
	case s.Role == receipt.RoleIssuer:
		b.row("signed by", who+", trusted for "+oneLine(root.Member("issuer").Member("id").String()))
	case s.Role == receipt.RoleWitness:
		b.row("witnessed by", who)
	default:
		b.row("not counted", fmt.Sprintf("%s: %s", who, s.Code))
	}
}

func (p *textPrinter) refuted(b *block, rep *receipt.Report, doc *canon.Document) {
	failed := failures(rep)
	for _, checks := range failed {
		p.failed(b, checks)
	}
	f := rep.Finding()
	b.prose("meaning", meaning(rep, f))
	if f.Hint != "" {
		b.prose("hint", f.Hint)
	}
	b.prose("next", next(rep, f, doc))
}

// failures groups the failed checks by step: a failed schema has one for each
// place.
func failures(rep *receipt.Report) [][]receipt.Check {
	var groups [][]receipt.Check
	for _, c := range rep.Checks {
		if c.Status != receipt.Failed {
			continue
		}
		if n := len(groups); n > 0 && groups[n-1][0].Step == c.Step {
			groups[n-1] = append(groups[n-1], c)
		} else {
			groups = append(groups, []receipt.Check{c})
		}
	}
	return groups
}

func (p *textPrinter) failed(b *block, checks []receipt.Check) {
	c := checks[0]
	if len(checks) > 1 {
		b.row(c.Step.String(), fmt.Sprintf("FAILED at %d places", len(checks)))
		for _, c := range checks {
			b.sub("at", c.Pointer+": "+c.Detail)
		}
		b.sub("", c.Hint)
		return
	}
	text := "FAILED"
	if c.Pointer != "" {
		text += " at " + oneLine(c.Pointer)
	}
	b.row(c.Step.String(), text)
	if c.Stated == "" || c.Computed == "" {
		b.sub("found", c.Detail)
	}
	b.sub("stated", c.Stated)
	b.sub("computed", c.Computed)
}

func meaning(rep *receipt.Report, f receipt.Check) string {
	if f.Code == receipt.CodeHashMismatch {
		for _, s := range rep.Signatures {
			if s.Role == receipt.RoleIssuer {
				return oneLine(s.KeyID) + " signed the stated hash: the content changed after signing"
			}
		}
	}
	info, _ := receipt.Lookup(f.Code)
	return info.Meaning
}

func next(rep *receipt.Report, f receipt.Check, doc *canon.Document) string {
	switch f.Code {
	case receipt.CodeHashMismatch:
		return "compare with another copy:\nreceipt diff OTHER_COPY " + shellName(rep.Source)
	case receipt.CodeUnknownKey:
		issuer := oneLine(doc.Root().Member("issuer").Member("id").String())
		for _, s := range rep.Signatures {
			if s.Code == receipt.CodeUnknownKey {
				return fmt.Sprintf("get that key from %s, not from the sender, then\nreceipt keys import FILE --id %s --issuer %s",
					issuer, shellName(s.KeyID), shellName(issuer))
			}
		}
	}
	info, _ := receipt.Lookup(f.Code)
	return info.Next
}

// shellName makes foreign text safe to paste into a shell.
func shellName(s string) string {
	plain := !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@%+=-", r)
	})
	if plain && s != "" && s[0] != '-' {
		return s
	}
	return "'" + strings.ReplaceAll(oneLine(s), "'", `'\''`) + "'"
}

func (p *textPrinter) undecided(b *block, rep *receipt.Report, doc *canon.Document) {
	f := rep.Finding()
	if c := rep.Check(receipt.StepHash); c.Status == receipt.Passed {
		b.row("intact", "the content fits its hash "+rep.ReceiptHash.String())
	}
	detail := f.Detail
	if f.Code == receipt.CodeUnknownKey && p.file != nil {
		detail = unknownKeys(rep, p.file)
	}
	b.prose(f.Step.String(), "NOT DECIDED: "+strings.TrimPrefix(detail, f.Step.String()+": "))
	b.prose("next", next(rep, f, doc))
}

func unknownKeys(rep *receipt.Report, file *keyFile) string {
	for _, s := range rep.Signatures {
		if s.Code == receipt.CodeUnknownKey {
			return fmt.Sprintf("%s is not among the %d keys of %s", oneLine(s.KeyID), file.set.Len(), oneLine(filepath.Base(file.path)))
		}
	}
	return ""
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
