package print

import (
	"encoding/xml"
	"fmt"
	"io"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A junitPrinter writes JUnit XML for CI systems. There is one test case for each refuted receipt
// (a failure), for each undecided receipt (an error), for the other receipts in each file, and for
// each finding about the entire input.
type junitPrinter struct {
	w      io.Writer
	suite  junitSuite
	source string // source of the previous report
	good   int    // number of verified receipts in this source
	more   int    // number of cases that are counted but not listed
}

// maxCases is the maximum number of cases in memory. The cases are stored in memory because the
// output begins with their number.
const maxCases = 10_000

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr,omitempty"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string      `xml:"classname,attr"`
	Name    string      `xml:"name,attr"`
	Failure *junitCause `xml:"failure,omitempty"`
	Error   *junitCause `xml:"error,omitempty"`
	Skipped *junitSkip  `xml:"skipped,omitempty"`
}

type junitSkip struct {
	Message string `xml:"message,attr"`
}

type junitCause struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func (p *junitPrinter) Report(rep *receipt.Report, _ []byte) error {
	if rep.Source != p.source {
		p.endSource()
		p.source = rep.Source
	}
	if rep.Verdict == receipt.Verified {
		p.good++
		return nil
	}

	// An undecided receipt is an error and not a failure, because nothing is invalid.
	f := rep.Finding()
	c := junitCase{Class: rep.Source, Name: rep.Address()}
	cause := &junitCause{string(f.Code), fmt.Sprintf("%s, %s: %s", Word(rep), coded(f.Code, f.Cause), ReasonLine(f)), findingLines(f)}
	switch rep.Verdict {
	case receipt.Refuted:
		c.Failure = cause
	default:
		c.Error = cause
	}

	p.add(c)
	return nil
}

// findingLines formats a check as lines, each with a label.
func findingLines(f receipt.Check) (text string) {
	for _, line := range [][2]string{{"step", f.Step.String()}, {"at", f.Pointer}, {"stated", f.Stated}, {"computed", f.Computed}, {"detail", f.Detail}, {"hint", f.Hint}} {
		if line[1] != "" {
			text += fmt.Sprintf("%s: %s\n", line[0], cli.EscapeLine(line[1]))
		}
	}
	return text
}

func (p *junitPrinter) endSource() {
	if p.good > 0 {
		p.add(junitCase{Class: p.source, Name: fmt.Sprintf("%s: %s", p.source, cli.Plural(p.good, "receipt", ""))})
	}
	p.good = 0
}

func (p *junitPrinter) add(c junitCase) {
	p.suite.Tests++
	switch {
	case c.Failure != nil:
		p.suite.Failures++
	case c.Error != nil:
		p.suite.Errors++
	}

	// All cases are counted, but only the first cases are listed.
	if len(p.suite.Cases) >= maxCases {
		p.more++
		return
	}

	// XML escapes markup, but not control characters.
	c.Class, c.Name = cli.EscapeLine(c.Class), cli.EscapeLine(c.Name)
	if c.Skipped != nil {
		c.Skipped.Message = cli.EscapeLine(c.Skipped.Message)
	}
	for _, cause := range []*junitCause{c.Failure, c.Error} {
		if cause != nil {
			cause.Message = cli.EscapeLine(cause.Message)
		}
	}
	p.suite.Cases = append(p.suite.Cases, c)
}

func (p *junitPrinter) End(s *stream.Summary) error {
	p.endSource()
	for _, f := range s.Findings {
		p.add(junitCase{Class: "whole input", Name: FindingName(f), Failure: &junitCause{Type: string(f.Code), Message: f.Detail}})
	}

	for _, n := range unusedEvidence(s) {
		p.add(junitCase{Class: "whole input", Name: "the input", Error: &junitCause{Type: string(n.Code), Message: n.Detail}})
	}

	for _, n := range s.Inputs.Unreadable {
		p.add(junitCase{Class: n.Source, Name: n.Source, Error: &junitCause{Type: "not_read", Message: whyNotRead(n)}})
	}

	// Each note about a check that was not made becomes a skipped case. Without these cases, the
	// suite would look as if everything had been checked.
	for _, n := range unchecked(s) {
		p.suite.Skipped++
		p.add(junitCase{Class: "not checked", Name: n.Detail, Skipped: &junitSkip{n.Detail}})
	}

	// A suite without any cases would pass, although nothing was verified.
	if s.Receipts == 0 && len(s.Inputs.Unreadable) == 0 {
		p.add(junitCase{Class: "whole input", Name: "no receipts", Error: &junitCause{Type: "not_read", Message: "no receipts"}})
	}

	if p.more > 0 {
		p.suite.Cases = append(p.suite.Cases, junitCase{Class: "whole input", Name: fmt.Sprintf("%s not listed here", cli.Plural(p.more, "case", ""))})
	}

	p.suite.Name = "receipt verify"
	text, err := xml.MarshalIndent(struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []junitSuite
	}{Suites: []junitSuite{p.suite}}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.w, "%s%s\n", xml.Header, text)
	return err
}
