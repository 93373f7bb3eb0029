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

func (p *textPrinter) end(*summary) error { return nil }

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
	for _, w := range rep.Warnings {
		b.row("warning", w.Detail)
	}
	return b
}

// A block is lines of a label and a text. All text that it is given is escaped,
// line feeds too: nothing in a receipt can look like a line of ours.
type block struct{ bytes.Buffer }

const labelWidth = 13

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
	if f.Hint == "" || f.Step != receipt.StepParse { // where a hint says what to do
		next(b, rep, f, doc)
	}
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
			b.sub("at", placed(c))
		}
		b.sub("", checks[len(checks)-1].Hint) // how many more there are
		return
	}
	text := "FAILED"
	if c.Pointer != "" {
		text += " at " + c.Pointer
	}
	b.row(c.Step.String(), text)
	if !computed(c) {
		b.sub("found", c.Detail)
		return
	}
	b.sub("stated", c.Stated)
	b.sub("computed", c.Computed)
}

// computed reports whether a check is told best by what is stated and what was
// computed instead.
func computed(c receipt.Check) bool {
	return c.Stated != "" && c.Computed != "" && c.Code != receipt.CodeIssuerMismatch && c.Code != receipt.CodeNumberPrecision
}

// placed is the detail of a check behind its place; the root has none.
func placed(c receipt.Check) string {
	if c.Pointer == "" {
		return c.Detail
	}
	return c.Pointer + ": " + c.Detail
}

func meaning(rep *receipt.Report, f receipt.Check) string {
	if by := signer(rep); f.Code == receipt.CodeHashMismatch && by != "" {
		if f.Hint != "" { // then that hash is another rule's
			return by + " signed the stated hash, which was not computed by the rule of the format: the issuer's software is at fault, and whether the content changed cannot be seen"
		}
		return by + " signed the stated hash: the content changed after signing"
	}
	info, _ := receipt.Lookup(f.Code)
	return info.Meaning
}

// signer is the key by which the issuer signed, "" when none did.
func signer(rep *receipt.Report) string {
	for _, s := range rep.Signatures {
		if s.Role == receipt.RoleIssuer {
			return s.KeyID
		}
	}
	return ""
}

// next says what to do, with commands to copy where there are any.
func next(b *block, rep *receipt.Report, f receipt.Check, doc *canon.Document) {
	info, _ := receipt.Lookup(f.Code)
	switch unknown := unknownKey(rep); {
	case f.Code == receipt.CodeHashMismatch && f.Hint != "":
		b.prose("next", "ask the issuer for a receipt that fits its hash")
	case f.Code == receipt.CodeHashMismatch:
		b.rows("next", "receipt diff OTHER_COPY "+shellFile(rep.Source))
	case f.Code == receipt.CodeUnknownKey && unknown != "":
		issuer := doc.Root().Member("issuer").Member("id").String()
		b.rows("next", "get that key from "+issuer+", not from the sender, then",
			"receipt keys import FILE --id "+shellName(unknown)+" --issuer "+shellName(issuer))
	default:
		b.prose("next", info.Next)
	}
}

// shellFile makes the name of an input safe to paste into a shell.
func shellFile(source string) string {
	switch {
	case source == sourceName(stdinName):
		return stdinName
	case strings.HasPrefix(source, "-"):
		source = "./" + source
	}
	return shellName(source)
}

// shellName makes foreign text safe to paste into a shell.
func shellName(s string) string {
	plain := !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@%+=-", r)
	})
	if plain && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(escapeLine(s), "'", `'\''`) + "'"
}

func (p *textPrinter) undecided(b *block, rep *receipt.Report, doc *canon.Document) {
	f := rep.Finding()
	if c := rep.Check(receipt.StepHash); c.Status == receipt.Passed {
		b.row("intact", "the content fits its hash "+rep.ReceiptHash.String())
	}
	b.prose(f.Step.String(), "NOT DECIDED: "+strings.TrimPrefix(p.cause(rep, f), f.Step.String()+": "))
	next(b, rep, f, doc)
}

// cause says why a receipt is undecided, of an unknown key where it was sought.
func (p *textPrinter) cause(rep *receipt.Report, f receipt.Check) string {
	if id := unknownKey(rep); id != "" && f.Code == receipt.CodeUnknownKey && p.file != nil {
		return fmt.Sprintf("%s is not among the %s of %s", bare(id), plural(p.file.set.Len(), "key", ""), p.file.path)
	}
	return f.Detail
}

// bare is a foreign name inside a sentence: quoted when it could be mistaken for
// a part of it.
func bare(s string) string {
	if shellName(s) == s {
		return s
	}
	return `"` + escapeLine(s) + `"`
}

// unknownKey is the first key id that a signature names and the key file has not.
func unknownKey(rep *receipt.Report) string {
	for _, s := range rep.Signatures {
		if s.Code == receipt.CodeUnknownKey {
			return s.KeyID
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
