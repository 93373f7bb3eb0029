package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A SavedReport is a report written by the command "verify" or "merge".
type SavedReport struct {
	*stream.Summary
	Listed   []canon.Digest // hashes of the listed receipts
	reports  int            // number of listed receipts, including those without a hash
	verdicts [3]int         // number of listed receipts, by verdict
}

const MaxReportBytes = 1 << 30

var (
	ErrNoSummary = errors.New("the report has no summary, so it is incomplete")
	ErrNotReport = errors.New("not a report")
)

// begunReport reports whether data begins like a report of "receipt verify".
func begunReport(data []byte) bool {
	return bytes.HasPrefix(data, []byte(`{"report_version":`)) || bytes.HasPrefix(data, []byte(ReportsBegin[:len(ReportsBegin)-1]))
}

// ReadReport reads a report in JSON or NDJSON, or a summary without reports. All documents in a
// report are parsed as strictly as receipts, so that, for example, duplicate members are rejected.
// The limits for receipts do not apply. It returns ErrNotReport for other data, and ErrNoSummary
// for a truncated report.
func ReadReport(data []byte) (*SavedReport, error) {
	text := bytes.TrimSpace(data)
	r := &SavedReport{}

	// The output of "receipt verify" can be large, so it is parsed line by line.
	if lines := bytes.Split(text, []byte("\n")); bytes.HasPrefix(text, []byte(ReportsBegin[:len(ReportsBegin)-1])) {
		if whole, err := r.readLines(lines); whole || err != nil {
			return r.checked(err)
		}
		r = &SavedReport{}
	} else if len(lines) > 1 && json.Valid(lines[0]) {
		return r.checked(r.readEach(lines))
	}

	// Any other form is parsed as a single document.
	doc, err := parseReport(text)
	var syntax *canon.SyntaxError
	switch {
	case errors.As(err, &syntax) && syntax.Code == canon.CodeSyntax && begunReport(text):
		return nil, ErrNoSummary
	case errors.As(err, &syntax) && syntax.Code == canon.CodeSyntax:
		return nil, ErrNotReport
	case err != nil:
		return nil, err
	}

	return r.checked(r.readDocument(doc.Root()))
}

func (r *SavedReport) checked(err error) (*SavedReport, error) {
	if err == nil && r.Summary == nil {
		err = ErrNoSummary
	}
	if err == nil {
		err = r.consistent()
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// consistent returns an error if the counts of the summary do not match the reports. A refuted copy
// counts as a receipt, but other copies do not. The list of reports may be incomplete.
func (r *SavedReport) consistent() error {
	verified, refuted, undecided := r.verdicts[receipt.Verified], r.verdicts[receipt.Refuted], r.verdicts[receipt.Undecided]
	if refuted > r.Refuted || r.Whole() && (refuted < r.Refuted || verified < r.Verified || undecided < r.Undecided) {
		return fmt.Errorf("the summary counts %d verified, %d refuted, and %d undecided receipts, but its reports are %d, %d, and %d",
			r.Verified, r.Refuted, r.Undecided, verified, refuted, undecided)
	}
	return nil
}

func parseReport(text []byte) (*canon.Document, error) {
	doc := new(canon.Document)
	return doc, doc.Parse(text, canon.Limits{Bytes: MaxReportBytes})
}

// readLines reads the form that "receipt verify" writes, which has one report per line. It parses
// one line at a time, so that only one parsed report is in memory. It returns false if the text has
// another form.
func (r *SavedReport) readLines(lines [][]byte) (whole bool, err error) {
	const begin, none, end, summary = `"reports":[`, `"reports":[],`, `],`, `"summary":`
	if len(lines) < 4 || string(lines[1]) != begin && string(lines[1]) != none {
		return false, nil
	}

	// The following lines contain one report each, up to the line that ends the list.
	rest := lines[2:]
	for string(lines[1]) == begin {
		if len(rest) == 0 {
			return false, nil
		}
		line := rest[0]
		if rest = rest[1:]; string(line) == end {
			break
		}
		if !json.Valid(bytes.TrimSuffix(line, []byte(","))) {
			return false, nil
		}

		doc, err := parseReport(bytes.TrimSuffix(line, []byte(",")))
		if err != nil {
			return false, err
		}
		if err := r.list(doc.Root()); err != nil {
			return false, err
		}
	}

	// The remaining lines must be the summary and a closing brace.
	if len(rest) != 2 || !bytes.HasPrefix(rest[0], []byte(summary)) || string(rest[1]) != "}" || !json.Valid(rest[0][len(summary):]) {
		return false, nil
	}
	return true, r.readSummary(rest[0][len(summary):])
}

// readEach reads one document per line: the reports, followed by the summary.
func (r *SavedReport) readEach(lines [][]byte) error {
	for i, line := range lines {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		doc, err := parseReport(line)
		var syntax *canon.SyntaxError
		switch {
		case errors.As(err, &syntax) && syntax.Code == canon.CodeSyntax && i == len(lines)-1 && r.reports > 0:
			return ErrNoSummary
		case errors.As(err, &syntax) && syntax.Code == canon.CodeSyntax:
			return ErrNotReport
		case err != nil:
			return fmt.Errorf("line %d: %w", i+1, err)
		case r.Summary != nil:
			return fmt.Errorf("line %d: expected nothing after the summary", i+1)
		}

		if err := r.readDocument(doc.Root()); err != nil && !errors.Is(err, ErrNoSummary) {
			return err
		}
	}

	return nil
}

// readDocument reads one of three documents: a report with its summary, a summary alone, or the
// report of one receipt.
func (r *SavedReport) readDocument(root canon.Node) error {
	has := func(name string) bool { return !root.Member(name).IsZero() }
	switch {
	case has("report_version") && has("streams") && has("receipts"):
		return r.readSummary(root.Raw())
	case has("summary"):
		for _, report := range root.Member("reports").Elements() {
			if err := r.list(report); err != nil {
				return err
			}
		}
		return r.readSummary(root.Member("summary").Raw())
	case has("report_version"):
		if err := r.list(root); err != nil {
			return err
		}
		return ErrNoSummary
	}

	return ErrNotReport
}

func (r *SavedReport) readSummary(text []byte) error {
	s := new(stream.Summary)
	if err := json.Unmarshal(text, s); err != nil {
		return fmt.Errorf("unusable report: %w", err)
	}
	r.Summary = s
	return nil
}

// list adds a listed receipt with its verdict.
func (r *SavedReport) list(report canon.Node) error {
	var v receipt.Verdict
	if err := v.UnmarshalText([]byte(report.Member("verdict").String())); err != nil {
		return fmt.Errorf("report %d: verdict: %w", r.reports+1, err)
	}

	// The verdict must follow from the checks. A report that contradicts itself is rejected.
	for _, check := range report.Member("checks").Elements() {
		if check.Member("status").String() == receipt.StatusFailed.String() && v != receipt.Refuted {
			return fmt.Errorf("report %d: it states %s, but a check failed", r.reports+1, v)
		}
	}

	r.reports++
	r.verdicts[v]++
	if d, err := canon.ParseDigest(report.Member("receipt_hash").Text()); err == nil {
		r.Listed = append(r.Listed, d)
	}

	return nil
}

// Whole reports whether the report lists all receipts that the summary counts.
func (r *SavedReport) Whole() bool { return r.reports == r.Receipts+r.Copies }

const ReportsBegin = "{\n\"reports\":[\n"
