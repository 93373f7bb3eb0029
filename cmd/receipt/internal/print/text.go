package print

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/attest"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// A TextPrinter writes a block of text for each receipt.
type TextPrinter struct {
	w     io.Writer
	color bool
	file  *trust.KeyFile

	checkpoint string // describes the checkpoint if its log signed it
}

func (p *TextPrinter) Report(rep *receipt.Report, doc *canon.Document) error {
	b := p.block(rep, doc)
	if issued := doc.Root().Member("issued_at").String(); issued != "" && !rep.At.IsZero() && rep.At.String() != issued {
		b.Row("as of", rep.At.String())
	}
	if p.checkpoint != "" {
		b.Row("checkpoint", p.checkpoint)
	}
	if p.file != nil {
		b.Row("keys", p.file.String())
	}
	_, err := p.w.Write(b.Bytes())
	return err
}

// block returns all information about one receipt, except the keys.
func (p *TextPrinter) block(rep *receipt.Report, doc *canon.Document) *Block {
	b := &Block{}
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
	p.notRecorded(b, doc)
	for _, w := range rep.Warnings {
		b.Row("warning", w.Detail)
	}

	return b
}

// notRecorded lists members that the source did not report, members whose values are upper bounds,
// estimates, and inferred members.
func (p *TextPrinter) notRecorded(b *Block, doc *canon.Document) {
	r := headline.Read(doc.Root())
	p.pointers(b, headline.NotRecorded, r.Unreported, "")
	p.pointers(b, "at most", r.Over, ": may hold more than happened")
	p.pointers(b, "estimated", r.Estimated, ", by the source: no bill")
	p.pointers(b, "inferred", r.Inferred, ", concluded from other lines of the source")
}

func (p *TextPrinter) pointers(b *Block, label string, list []string, what string) {
	if len(list) == 0 {
		return
	}
	text := untrusted.Cut(strings.Join(list[:min(len(list), cli.MostUnreported)], " "), 4096)
	if more := len(list) - cli.MostUnreported; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	b.Row(label, text+what)
}

// A Block is a sequence of rows, each of which consists of a label and a string. All text is
// escaped, including line feeds, so that no text in a receipt can imitate a row.
type Block struct{ bytes.Buffer }

// Row writes a row with a label and a string, and escapes the string.
func (b *Block) Row(label, text string) {
	fmt.Fprintf(b, "  %-*s%s\n", cli.LabelWidth, label, cli.EscapeLine(text))
}

// Rows writes a row with several lines, for commands that must not be wrapped.
func (b *Block) Rows(label string, lines ...string) {
	for _, line := range lines {
		b.Row(label, line)
		label = ""
	}
}

// sub writes an indented row.
func (b *Block) sub(label, text string) {
	if text != "" {
		fmt.Fprintf(b, "    %-*s%s\n", cli.LabelWidth-2, label, cli.EscapeLine(text))
	}
}

// Prose writes a row that is wrapped if necessary.
func (b *Block) Prose(label, text string) {
	lines := strings.Split(cli.Wrap(cli.EscapeLine(text), cli.LabelWidth+2), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	b.Rows(label, lines...)
}

func (p *TextPrinter) headline(b *Block, rep *receipt.Report) {
	text := p.paint(rep.Verdict, Word(rep))
	if rep.Verdict != receipt.Verified {
		text += ", " + coded(rep.Finding().Code, rep.Finding().Cause)
	}
	fmt.Fprintf(b, "%s: %s\n", cli.EscapeLine(rep.Address()), text)
}

// Word returns a single word for the verdict. If signatures were not checked, a receipt is never
// called verified, because anyone can write a receipt that matches its stated hash.
func Word(rep *receipt.Report) string {
	if rep.Verdict == receipt.Verified && rep.Scope == receipt.ScopeIntegrity {
		return "intact"
	}
	return rep.Verdict.String()
}

func (p *TextPrinter) paint(v receipt.Verdict, text string) string { return PaintIf(p.color, v, text) }

// PaintIf colors a string according to a verdict if color is set.
func PaintIf(color bool, v receipt.Verdict, text string) string {
	if !color {
		return text
	}
	start := map[receipt.Verdict]string{receipt.Verified: "\x1b[32m", receipt.Refuted: "\x1b[31m", receipt.Undecided: "\x1b[33m"}
	return start[v] + text + "\x1b[0m"
}

func (p *TextPrinter) verified(b *Block, rep *receipt.Report, doc *canon.Document) {
	root := doc.Root()
	task := root.Member("identifiers").Member("task_id").String()
	state, issued := " "+root.Member("lifecycle").Member("final_state").String(), root.Member("issued_at").String()

	// If the source did not report a value, the value in the receipt conveys no information.
	unreported := receipt.ReadUnreported(root)
	if unreported.Has("/lifecycle/final_state") {
		state = ", outcome not recorded"
	}
	if unreported.Has("/issued_at") {
		issued = "at a time that is not recorded,"
	}

	// A third-party receipt has other members, and its key identifies the signer.
	if read := rep.Check(receipt.StepParse); read.Status == receipt.StatusPassed && read.Stated != "" {
		label, state, of := "receipt", "", ""
		if slices.Contains([]string{"slsa-vsa", "in-toto-svr", "cose-sign1"}, read.Stated) { // about another document
			label, state, of = "subject", "not verified: ", " (of this statement)"
		}
		b.Row("format", read.Stated)
		if id := rep.ReceiptID.String(); id != "" {
			b.Row(label, state+id)
		}
		if !rep.ReceiptHash.IsZero() {
			b.Row("hash", rep.ReceiptHash.String()+of)
		}
		for _, s := range rep.Signatures {
			p.signature(b, s, canon.Node{})
		}
		return
	}

	b.Row("receipt", fmt.Sprintf("%s · task %s%s", rep.ReceiptID.String(), task, state))
	b.Row("issued", fmt.Sprintf("%s by %s", issued, issuerText(root)))
	b.Row("hash", rep.ReceiptHash.String())
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

func (p *TextPrinter) signature(b *Block, s receipt.SignatureResult, root canon.Node) {
	who := s.KeyID + ", " + s.Algorithm
	switch {
	case s.Role == receipt.RoleIssuer && s.Algorithm == attest.Algorithm:
		b.Prose("attested by", s.KeyID+", for "+s.Detail)
	case s.Role == receipt.RoleIssuer && root.IsZero():
		b.Row("signed by", who)
	case s.Role == receipt.RoleIssuer:
		b.Row("signed by", who+", trusted for "+root.Member("issuer").Member("id").String())
	case s.Role == receipt.RoleWitness:
		b.Row("witnessed by", who)
	default:
		b.Prose("not counted", fmt.Sprintf("%s: %s", s.Code, cmp.Or(s.Detail, who)))
	}
}

// passedWhole reports whether all checks in a step passed.
func passedWhole(rep *receipt.Report, s receipt.Step) bool {
	return !slices.ContainsFunc(rep.Checks, func(c receipt.Check) bool { return c.Step == s && c.Status != receipt.StatusPassed })
}

// steps prints the steps that passed and the steps that were not checked. For a verified receipt,
// it prints the notes about unchecked steps. For any other receipt, it prints only the names of
// these steps.
func (p *TextPrinter) steps(b *Block, rep *receipt.Report) {
	var passed, names []string
	for _, c := range rep.Checks {
		switch {
		case c.Status == receipt.StatusPassed && passedWhole(rep, c.Step):
			passed = append(passed, c.Step.String())
		case c.Status == receipt.StatusNotChecked && c != rep.Finding() && !signedOther(rep, c):
			names = append(names, partOf(rep, c))
		}
	}

	if c := rep.Check(receipt.StepBatch); c.Status == receipt.StatusPassed && c.Detail != "" {
		b.Prose("included", c.Detail)
	}
	if t := rep.Existed; !t.Time.IsZero() {
		b.Row("existed", fmt.Sprintf("before %v (authority %q)", t.Time, t.Authority))
	}

	p.pointers(b, "disclosed", rep.Disclosed, ", as committed in the receipt")
	if len(passed) > 0 {
		b.Row("passed", strings.Join(passed, " "))
	}
	if rep.Verdict == receipt.Verified {
		label := "not checked"
		for _, n := range rep.NotChecked {
			b.Prose(label, n.Detail)
			label = ""
		}
	} else if len(names) > 0 {
		b.Row("not checked", strings.Join(slices.Compact(names), " "))
	}
}

// signedOther reports whether c is the check of the signatures of a hash that the content does not
// match. The text after "meaning" then describes the signatures.
func signedOther(rep *receipt.Report, c receipt.Check) bool {
	return c.Step == receipt.StepSignatures && c.Code == receipt.CodeStepNotReached && signer(rep) != "" && rep.Finding().Code == receipt.CodeHashMismatch
}

// partOf returns the name of the step of a check. If another check of the same step failed, the
// step has checked a receipt and its attestation, and the name also states which was not checked.
func partOf(rep *receipt.Report, c receipt.Check) string {
	if !slices.ContainsFunc(rep.Checks, func(o receipt.Check) bool { return o.Step == c.Step && ofAttestation(o) }) {
		return c.Step.String()
	}
	return c.Step.String() + " (receipt)"
}

func (p *TextPrinter) refuted(b *Block, rep *receipt.Report, doc *canon.Document) {
	failed := Failures(rep)
	for _, checks := range failed {
		Failed(b, checks)
	}

	// The first finding determines the text after "meaning".
	f := rep.Finding()
	if otherThanReceipt(f, doc).Kind == kind.Draft {
		b.Prose("meaning", "this is a draft: it has no hash and no place in a chain until it is sealed")
	} else {
		b.Prose("meaning", meaning(rep, f))
	}

	if f.Hint != "" && !connected(f) {
		b.Prose("hint", f.Hint)
	}
	if f.Hint == "" || f.Step != receipt.StepParse { // the hint already contains the recommended action
		p.next(b, rep, f, doc)
	}
}

// next prints the recommended action, with commands to copy if applicable.
func (p *TextPrinter) next(b *Block, rep *receipt.Report, f receipt.Check, doc *canon.Document) {
	switch unknown, k := unknownKey(rep), otherThanReceipt(f, doc); {
	case k.Kind.ForeignReceipt(): // another receipt verify would not decide more
		b.Prose("next", k.Next)
	case k.Kind != kind.Unknown:
		b.Row("next", input.Next(k, rep.Address()))
	case ofAttestation(f):
		b.Prose("next", "ask for an undamaged attestation from its signer")
	case f.Code == receipt.CodeIssuerMismatch && f.Computed != "": // the required issuer, not the key's
		b.Prose("next", "ask for a receipt by "+cli.Bare(f.Computed)+", or require the issuer "+cli.Bare(f.Stated))
	case f.Code == receipt.CodeHashMismatch && f.Hint != "":
		b.Prose("next", "ask the issuer for a receipt that matches its hash")
	case f.Code == receipt.CodeHashMismatch, f.Code == receipt.CodeSchemaInvalid && rep.Check(receipt.StepHash).Code == receipt.CodeHashMismatch:
		b.Rows("next", "receipt diff OTHER_COPY "+cli.ShellFile(rep.Address()))
	case f.Code == receipt.CodeUnknownKey && f.Step == receipt.StepBatch: // the key belongs to a log, not to an issuer
		b.Rows("next", "get the log's key from the log, not from the sender, then",
			"receipt keys import FILE --any-issuer --role checkpoint --origin ORIGIN"+p.file.Flag())
	case f.Code == receipt.CodeUnknownKey && unknown != "":
		issuer := cmp.Or(rep.Issuer, doc.Root().Member("issuer").Member("id").String())
		b.Rows("next", "get that key from "+cmp.Or(issuer, "its owner")+", not from the sender, then",
			"receipt keys import FILE --id "+cli.ShellName(unknown)+" --issuer "+cli.ShellName(cmp.Or(issuer, "ISSUER"))+p.file.Flag())
	default:
		info, _ := receipt.Lookup(f.Code)
		b.Prose("next", Next(info))
	}
}

func (p *TextPrinter) undecided(b *Block, rep *receipt.Report, doc *canon.Document) {
	f := rep.Finding()
	if c := rep.Check(receipt.StepHash); c.Status == receipt.StatusPassed {
		b.Row("intact", "the content matches its hash "+rep.ReceiptHash.String())
	}
	b.Prose(f.Step.String(), "NOT DECIDED: "+p.cause(rep, f, cmp.Or(f.Reason, f.Detail)))
	p.next(b, rep, f, doc)
}

// cause explains why a receipt is undecided. If the key is unknown, the reason contains the key
// file that was searched; otherwise, cause returns words.
func (p *TextPrinter) cause(rep *receipt.Report, f receipt.Check, words string) string {
	if id := unknownKey(rep); id != "" && f.Code == receipt.CodeUnknownKey && f.Step != receipt.StepBatch && p.file != nil {
		return fmt.Sprintf("%s is not in %s (%s)", cli.Bare(id), p.file.Path, cli.Plural(p.file.Set.Len(), "key", ""))
	}
	return words
}
