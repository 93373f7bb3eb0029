package print

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A problem is a refuted or undecided receipt, a finding about the entire input, or an input that
// was not read. Its strings are escaped.
type problem struct {
	level   level
	rule    receipt.Code // or notRead
	title   string       // verdict and code
	source  string
	place   string // address of the document
	line    int    // line in the source; 0 unless its lines are receipts
	subject string // stream, for a problem that is not in a file
	text    string
	id      string // ID, which is the same in every run that finds the problem
}

// A level is the severity of a problem, as named in SARIF.
type level string

const (
	levelError   level = "error"   // refuted
	levelWarning level = "warning" // the receipt is undecided, or an input was not read
	levelNote    level = "note"    // a check is missing, but the verdict does not depend on it
)

// notRead is the rule for inputs that were not read.
const notRead = "not_read"

// maxProblems is the maximum number of problems per level that are listed. GitHub shows 5,000.
const maxProblems = 5_000

// A problems list stores the first problems of each level, and counts the remaining problems.
type problems struct {
	lists map[level][]problem
	count int
	first string // the first source, which is used for problems that are not in a file
	notes []receipt.Note
}

// complete sets the location and the ID of a problem.
func (l *problems) complete(p problem) problem {
	if p.source == "" {
		p.source = l.first
	}
	_, index := splitAddress(p.place)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%s\x00%s", p.rule, p.source, index, p.subject, p.id))
	p.id = hex.EncodeToString(sum[:16])
	p.text = untrusted.Cut(p.text, 1000)
	return p
}

func (l *problems) add(p problem) {
	if l.lists == nil {
		l.lists = map[level][]problem{}
	}
	if l.count++; len(l.lists[p.level]) < maxProblems {
		l.lists[p.level] = append(l.lists[p.level], l.complete(p))
	}
}

// Report adds a receipt that is not verified.
func (l *problems) Report(rep *receipt.Report, _ []byte) error {
	if l.first == "" {
		l.first = rep.Source
	}
	if rep.Verdict == receipt.Verified {
		return nil
	}
	f := rep.Finding()
	p := problem{level: levelWarning, rule: f.Code, title: Word(rep) + ", " + coded(f.Code, f.Cause), source: rep.Source, place: rep.Address(),
		text: cli.EscapeLine(ReasonLine(f)), id: string(rep.ReceiptID) + "\x00" + f.Pointer}
	if rep.Verdict == receipt.Refuted {
		p.level = levelError
	}
	if rep.Listed {
		p.line, p.text = lineOf(rep.Source, rep.Index, p.text)
	}
	l.add(p)
	return nil
}

// end adds the problems of the entire input, and stores the notes about checks that were not made.
func (l *problems) end(s *stream.Summary) {
	for _, f := range s.Findings {
		p := problem{level: levelError, rule: f.Code, title: "refuted, " + coded(f.Code, f.Cause), text: cli.EscapeLine(f.Detail), id: f.Stated}
		if f.Source != "" {
			p.place = f.Source
			p.source, p.line = splitAddress(f.Source)
			if p.source != f.Source {
				p.line, p.text = lineOf(p.source, p.line, p.text)
			}
		} else {
			p.subject = cli.EscapeLine(FindingName(f))
		}
		l.add(p)
	}

	for _, n := range s.NotChecked {
		if n.Undecides() {
			l.add(problem{level: levelWarning, rule: n.Code, title: "undecided, " + string(n.Code), subject: "the input", text: cli.EscapeLine(n.Detail), id: n.Detail})
		}
	}

	for _, n := range s.Inputs.Unreadable {
		l.add(problem{level: levelWarning, rule: notRead, title: notReadAs(n.After > 0), source: n.Source, place: n.Source, text: cli.EscapeLine(whyNotRead(n))})
	}
	if s.Receipts == 0 && len(s.Inputs.Unreadable) == 0 {
		l.add(problem{level: levelWarning, rule: notRead, title: "not read", subject: "the input", text: "no receipts"})
	}
	l.notes = unchecked(s)
}

// lineOf returns the line and the text of a problem, given the number of its document. If the lines
// of the source are not documents, the line is 0, and the text begins with the number.
func lineOf(source string, number int, text string) (int, string) {
	if name := strings.ToLower(source); strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".ndjson") {
		return number, text
	}
	return 0, fmt.Sprintf("item %d: %s", number, text)
}

// splitAddress returns the source and the line of an address such as "a.jsonl:3".
func splitAddress(address string) (source string, line int) {
	if i := strings.LastIndexByte(address, ':'); i > 0 {
		if n, err := strconv.Atoi(address[i+1:]); err == nil && n > 0 {
			return address[:i], n
		}
	}
	return address, 1
}

// listed calls the function of for each problem, starting with refuted receipts, and returns the
// results. It stops at the maximum number of results, or at the maximum size of their JSON in
// bytes. It also returns the number of problems that it omitted.
func listed[T any](l *problems, most, size int, of func(*problem) T) (list []T, more int) {
	for _, p := range slices.Concat(l.lists[levelError], l.lists[levelWarning]) {
		item := of(&p)
		text, _ := json.Marshal(item) // strings and numbers cannot cause an error
		if size -= len(text); len(list) == most || size < 0 {
			break
		}
		list = append(list, item)
	}
	return list, l.count - len(list)
}

// whole returns the text of a problem. If the problem is not in a file, its subject precedes the
// text.
func (p *problem) whole() string {
	if p.subject == "" {
		return p.text
	}
	return p.subject + ": " + p.text
}
