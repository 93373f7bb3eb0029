package print

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/trust"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A ListPrinter writes results for people. A single receipt gets a block with all its details. If
// there are several receipts, a few refuted receipts get blocks. If there are more refuted
// receipts, or if the receipts are lines of one file, each gets a line. Undecided receipts are
// grouped by cause, and the last line contains the totals.
type ListPrinter struct {
	TextPrinter
	Totals
	limit    int
	inputs   int // number of sources
	detailed bool
	named    bool // each source is a single receipt that the caller addressed by its line or item number
	file     *trust.KeyFile
	reports  []string // files of --report

	written bool // lines were written after the last block
	single  bool // the input is one document
	held    []finding
	waiting []finding // findings that are refuted only because of their links; they are held until a fault of another kind is found
	faults  faults
	flooded bool                 // more than a few receipts are refuted
	beyond  map[receipt.Code]int // number of refuted receipts that are not printed, by code
	next    string               // recommended action for the first refuted receipt that was printed only as a line
	signers map[string]int       // number of verified receipts, by the key of the issuer
	open    map[string]*group
	causes  []string // keys of open, in order
}

func newListPrinter(e *cli.Env, o *OutputFlags, file *trust.KeyFile, s *input.Selection) *ListPrinter {
	return &ListPrinter{
		TextPrinter: TextPrinter{w: e.Text(), color: e.Colored(), file: file, checkpoint: o.Signed},
		Totals:      NewTotals(e.Colored(), e.Terminal),
		limit:       o.limit,
		inputs:      len(s.Sources) + len(s.Missing) + len(s.Skipped),
		detailed:    len(s.Sources) <= few && !slices.ContainsFunc(s.Sources, func(src stream.Source) bool { return src.Found }),
		named:       !slices.ContainsFunc(s.Sources, func(src stream.Source) bool { return src.Index == 0 }),
		file:        file,
		reports:     o.reports,
		beyond:      map[receipt.Code]int{},
		signers:     map[string]int{},
		open:        map[string]*group{},
	}
}

// A finding is a refuted receipt that has not been printed yet. A few findings get blocks; more
// findings get lines.
type finding struct {
	address, next string
	line, block   []byte
}

// A group contains the undecided receipts with the same cause.
type group struct {
	count int
	first string
	text  string
}

// few is the maximum number of inputs, or of findings, that get one block each.
const few = 3

func (p *ListPrinter) Report(rep *receipt.Report, text []byte) error {
	if p.single = p.inputs == 1 && !p.listed(rep); p.single {
		return p.TextPrinter.Report(rep, document(text))
	}
	if rep.Verdict == receipt.Verified {
		p.sign(rep)
		return nil
	}

	p.Codes[rep.Verdict][rep.Finding().Code]++

	if rep.Verdict == receipt.Refuted {
		p.faults.add(rep)
	}
	switch {
	case p.detailed && !p.listed(rep):
		return p.writeBlock(append(p.block(rep, document(text)).Bytes(), '\n'))
	case rep.Verdict == receipt.Refuted:
		return p.refute(rep, text)
	}
	p.group(rep)
	return nil
}

// sign counts a verified receipt for its issuer's key. Copies are not counted.
func (p *ListPrinter) sign(rep *receipt.Report) {
	if slices.ContainsFunc(rep.Warnings, func(n receipt.Note) bool { return n.Code == "identical_copy" }) {
		return
	}

	// The number of keys is limited, as is the number of causes.
	id := signer(rep)
	if _, known := p.signers[id]; id != "" && (known || len(p.signers) < maxGroups) {
		p.signers[id]++
	}
}

// signed lists the keys of issuers of verified receipts, sorted by the number of receipts per key.
func (p *ListPrinter) signed(b *bytes.Buffer) {
	keys := slices.SortedFunc(maps.Keys(p.signers), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.signers[b], p.signers[a]), cmp.Compare(a, b))
	})

	for i, id := range keys {
		keys[i] = fmt.Sprintf("%s, %s", cli.Bare(id), cli.Plural(p.signers[id], "verified receipt", ""))
	}
	b.WriteString(cli.Rows("signed by", keys, cli.MaxStreams, len(keys)))
}

// listed reports whether a receipt is one of several in its source and was not addressed by the
// caller.
func (p *ListPrinter) listed(rep *receipt.Report) bool { return rep.Listed && !p.named }

func (p *ListPrinter) refute(rep *receipt.Report, text []byte) error {
	if p.faults.others > 0 {
		if err := p.release(); err != nil {
			return err
		}
	}

	// The limit applies to each code separately.
	code := rep.Finding().Code
	if p.Codes[receipt.Refuted][code] > p.limit {
		p.beyond[code]++
		return nil
	}

	// A block is prepared only if it may still be printed.
	f := finding{address: rep.Address(), line: p.line(rep, text), next: p.recommended(rep)}
	if !p.flooded && !p.listed(rep) && len(p.held)+len(p.waiting) < few {
		b := p.block(rep, document(text))
		b.WriteByte('\n')
		f.block = b.Bytes()
	}

	// Faults that a flag could excuse are held, because one line may represent all of them.
	if p.faults.others == 0 {
		p.waiting = append(p.waiting, f)
		return nil
	}
	return p.write(f)
}

// release writes the findings that were held until a fault of another kind was found.
func (p *ListPrinter) release() error {
	list := p.waiting
	p.waiting = nil
	for _, f := range list {
		if err := p.write(f); err != nil {
			return err
		}
	}
	return nil
}

// groupWaiting writes one line for all receipts that are still held.
func (p *ListPrinter) groupWaiting(b *bytes.Buffer, text string) {
	first := p.waiting[0]
	fmt.Fprintf(b, "%s and %s more: %s, %s %s\n", cli.EscapeLine(first.address), cli.Count(p.Codes[receipt.Refuted][receipt.CodeChainBreak]-1),
		p.paint(receipt.Refuted, "refuted"), receipt.CodeChainBreak, text)
	p.next = first.next
	p.waiting = nil
	delete(p.beyond, receipt.CodeChainBreak)
}

// recommended returns the recommended action for a refuted receipt. A single receipt does not show
// that its link is invalid, and stdin cannot be read a second time.
func (p *ListPrinter) recommended(rep *receipt.Report) string {
	switch f := rep.Finding(); {
	case f.Step == receipt.StepLink:
		info, _ := receipt.Lookup(f.Code)
		return Next(info)
	case rep.Source == cli.SourceName(cli.StdinName):
		return ""
	}
	return "receipt show " + cli.ShellFile(rep.Address()) + p.file.Flag()
}

// write writes a finding. A few findings get blocks. If there are more, each gets a line.
func (p *ListPrinter) write(f finding) error {
	if !p.flooded && f.block != nil && len(p.held) < few {
		p.held = append(p.held, f)
		return nil
	}

	// The held findings come first, in input order.
	p.flooded = true
	for _, f := range append(p.held, f) {
		p.next = cmp.Or(p.next, f.next)
		if _, err := p.w.Write(f.line); err != nil {
			return err
		}
	}

	p.held, p.written = nil, true
	return nil
}

// Interrupted writes the held findings.
func (p *ListPrinter) Interrupted() error {
	if err := p.release(); err != nil {
		return err
	}
	for _, f := range p.held {
		if err := p.writeBlock(f.block); err != nil {
			return err
		}
	}
	p.held = nil
	return nil
}

// writeBlock writes a block, followed by a blank line. If there are lines before the block, it also
// begins with a blank line.
func (p *ListPrinter) writeBlock(block []byte) error {
	if p.written {
		block = append([]byte{'\n'}, block...)
	}
	p.written = false
	_, err := p.w.Write(block)
	return err
}

// document parses the text of a receipt that will be printed. It returns an empty document if the
// text is not JSON.
func document(text []byte) *canon.Document {
	doc := new(canon.Document)
	_ = doc.Parse(text, canon.Limits{Bytes: receipt.MaxBytes, Depth: receipt.MaxDepth}) // the report contains the error
	return doc
}

func (p *ListPrinter) line(rep *receipt.Report, text []byte) []byte {
	f := rep.Finding()
	reason := shortHashes(ReasonLine(f))

	if s := f.Syntax; rep.Listed && s.Line == 1 && f.Hint == "" && f.Pointer == "" { // the address already contains the line of the input
		reason = fmt.Sprintf("column %d (offset %d): %s", s.Column, s.Offset, s.Detail)
	}
	return fmt.Appendf(nil, "%s: %s, %s: %s\n", cli.EscapeLine(rep.Address()), p.paint(rep.Verdict, rep.Verdict.String()), coded(f.Code, f.Cause), cli.EscapeLine(subject(rep, text)+reason))
}

// subject returns the ID and the workspace stated in a receipt, as a prefix for a finding.
func subject(rep *receipt.Report, text []byte) string {
	if len(rep.ReceiptID) == 0 {
		return ""
	}
	name := cli.Bare(untrusted.Cut(rep.ReceiptID.String(), 80))
	if workspace := document(text).Root().Member("identifiers").Member("workspace_ref").String(); workspace != "" {
		name += " of " + cli.Bare(untrusted.Cut(workspace, 80))
	}
	return name + ": "
}

// shortHashes shortens the hashes in a line. The receipt, its block, and the reports contain the
// complete hashes.
func shortHashes(line string) string {
	const prefix, digits, kept = "sha256:", 64, 12
	parts := strings.Split(line, prefix)

	// A longer or shorter sequence of digits is not a receipt hash.
	for i := range parts[1:] {
		rest := parts[i+1]
		n := len(rest) - len(strings.TrimLeft(rest, "0123456789abcdef"))
		if n == digits {
			parts[i+1] = rest[:kept] + "…" + rest[digits:]
		}
	}
	return strings.Join(parts, prefix)
}

// ReasonLine formats a finding as one line.
func ReasonLine(f receipt.Check) string {
	switch {
	case f.Step == receipt.StepLink && f.Hint != "":
		return f.Detail + "; " + f.Hint
	case f.Step == receipt.StepLink:
		return f.Detail
	case computed(f):
		return "stated " + f.Stated + ", computed " + f.Computed
	case f.Hint != "":
		return f.Hint
	case f.Pointer != "":
		return "at " + placed(f)
	}
	return f.Detail
}

func (p *ListPrinter) group(rep *receipt.Report) {
	f := rep.Finding()
	text := p.cause(rep, f, f.Detail)
	cause := string(f.Code) + "\x00" + text
	g := p.open[cause]

	// The number of causes is limited, and further causes are combined.
	if g == nil && len(p.open) >= maxGroups {
		cause, text = "", "others"
		g = p.open[cause]
	}

	if g == nil {
		g = &group{first: rep.Address(), text: fmt.Sprintf("%s: %s", f.Code, text)}
		p.open[cause] = g
		p.causes = append(p.causes, cause)
	}
	g.count++
}

// unusedEvidence returns notes about evidence that no receipt used, and notes about insufficient
// statements. The user expected this evidence to have an effect.
func unusedEvidence(s *stream.Summary) (list []receipt.Note) {
	for _, n := range s.NotChecked {
		if isUnused(n.Code) || isAboutStatements(n.Code) {
			list = append(list, n)
		}
	}
	return list
}

// isUnused reports whether a note is about evidence that no receipt used.
func isUnused(c receipt.Code) bool {
	return c == receipt.CodeEvidenceUnused || c == "disclosure_unbound"
}

// isAboutStatements reports whether a note is about the statements of the streams in the input.
func isAboutStatements(c receipt.Code) bool {
	switch c {
	case receipt.CodeStreamOpen, receipt.CodeSilence, receipt.CodeNotFromStart, receipt.CodeStatementMissing, receipt.CodeStatementUnsupported, receipt.CodeUnknownKey,
		receipt.CodeUnsupportedAlgorithm, receipt.CodeTimeSelfAsserted:
		return true
	}
	return false
}

// unchecked returns the notes about checks that were not made and that do not affect the verdict.
func unchecked(s *stream.Summary) []receipt.Note {
	return slices.DeleteFunc(headline.Notes(s), receipt.Note.Undecides)
}

// maxGroups limits the memory for an input with many causes.
const maxGroups = 1000

func (p *ListPrinter) End(s *stream.Summary) error {
	var b bytes.Buffer
	findings, unused := s.Findings, unusedEvidence(s)
	if p.inputs <= 1 && (p.single || s.Receipts == 0) && len(findings)+len(unused) == 0 && (s.Complete || s.Receipts == 0) && s.SkippedCount == 0 {
		return nil // the block before this line, or the error on stderr, already contains this information
	}

	// Held receipts come before the groups and the findings about the entire input.
	if text := p.faults.grouped(s); text != "" && len(p.waiting) > 0 {
		p.groupWaiting(&b, text)
	}
	if err := p.Interrupted(); err != nil {
		return err
	}

	p.refutedMore(&b)
	p.undecidedCauses(&b)
	p.findings(&b, findings)
	for _, n := range unused {
		fmt.Fprintf(&b, "the input: %s, %s: %s\n", p.paint(receipt.Undecided, "undecided"), n.Code, cli.EscapeLine(n.Detail))
	}

	if (p.written || b.Len() > 0) && !p.single {
		b.WriteByte('\n')
	}
	if !p.single {
		p.footers(&b, s)
	}

	fmt.Fprintln(&b, p.Totals.Line(s))
	_, err := p.w.Write(b.Bytes())
	return err
}

// findings writes a line for each of the first findings about the entire input.
func (p *ListPrinter) findings(b *bytes.Buffer, findings []stream.Finding) {
	for i, f := range findings {
		if i == p.limit {
			fmt.Fprintf(b, "and %s more findings about the whole input\n", cli.Count(len(findings)-i))
			break
		}
		fmt.Fprintf(b, "%s: %s, %s: %s\n", cli.EscapeLine(FindingName(f)), p.paint(receipt.Refuted, "refuted"), coded(f.Code, f.Cause), cli.EscapeLine(f.Detail))
	}
}

// footers writes the lines between the results and the totals.
func (p *ListPrinter) footers(b *bytes.Buffer, s *stream.Summary) {
	p.Streams(b, s)
	levels(b, s)
	NotChecked(b, s, " (--expect-head or --checkpoint)")
	if p.checkpoint != "" {
		Footer(b, "checkpoint", p.checkpoint)
	}
	p.signed(b)

	if p.file != nil {
		Footer(b, "keys", p.file.String())
	}

	// The recommended actions come last.
	hint := p.faults.hint(s)
	if hint != "" {
		Footer(b, "hint", hint)
	}
	if p.next != "" && (hint == "" || p.faults.order == 0) { // no receipt is missing if they are only in another order
		Footer(b, "next", p.next)
	}
}

func (p *ListPrinter) refutedMore(b *bytes.Buffer) {
	for _, code := range slices.Sorted(maps.Keys(p.beyond)) {
		fmt.Fprintf(b, "and %s more: %s, %s\n", cli.Count(p.beyond[code]), p.paint(receipt.Refuted, "refuted"), code)
	}
}

func (p *ListPrinter) undecidedCauses(b *bytes.Buffer) {
	for i, cause := range p.causes {
		if i == p.limit {
			fmt.Fprintf(b, "and %s more causes\n", cli.Count(len(p.causes)-i))
			break
		}

		g := p.open[cause]
		others := ""
		if g.count > 1 {
			others = fmt.Sprintf(" and %s more", cli.Count(g.count-1))
		}
		fmt.Fprintf(b, "%s%s: %s, %s\n", cli.EscapeLine(g.first), others, p.paint(receipt.Undecided, "undecided"), cli.EscapeLine(g.text))
	}
}

// Streams writes one line per stream, or only the number of streams if there are many.
func (p *ListPrinter) Streams(b *bytes.Buffer, s *stream.Summary) {
	if len(s.Streams) > cli.MaxStreams {
		where := "--report FILE.json lists their heads"
		if len(p.reports) > 0 {
			where = "heads in " + p.reports[0]
		}
		Footer(b, "streams", fmt.Sprintf("%s, %s", cli.Count(len(s.Streams)), where))
		return
	}

	for _, g := range s.Streams {
		text := streamLabel(g.Stream) + ": " + cli.Plural(int(g.Count), "receipt", "")
		if n := g.Failures; n > 0 {
			text += ", " + cli.Plural(int(n), "break", "")
		}
		Footer(b, "stream", text+", head "+g.Head.String())
	}
}
