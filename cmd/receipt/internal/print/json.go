package print

import (
	"io"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A JSONPrinter writes {"reports": [...], "summary": {...}} during the run, with one report per
// line. No other line looks like a document, so a report that is found among receipts is not
// mistaken for a file of lines.
type JSONPrinter struct {
	*JSONWriter
	begun bool
}

// NewJSONPrinter returns a JSONPrinter that writes to w.
func NewJSONPrinter(w io.Writer) *JSONPrinter { return &JSONPrinter{JSONWriter: NewJSONWriter(w)} }

func (p *JSONPrinter) Report(rep *receipt.Report, _ []byte) error {
	separator := ",\n"
	if !p.begun {
		p.begun, separator = true, input.ReportsBegin
	}
	return p.Write(separator, rep, "")
}

func (p *JSONPrinter) End(s *stream.Summary) error {
	separator := "\n],\n" + `"summary":`

	// If there are no reports, the empty list is on one line.
	if !p.begun {
		separator = input.ReportsBegin[:len(input.ReportsBegin)-1] + separator[1:]
	}
	return p.Write(separator, s, "}\n")
}

// An ndjsonPrinter writes one report per line, and {"summary": ...} at the end. If this last line
// is missing, the output is incomplete.
type ndjsonPrinter struct{ *JSONWriter }

func (p *ndjsonPrinter) Report(rep *receipt.Report, _ []byte) error {
	return p.Write("", rep, "\n")
}

func (p *ndjsonPrinter) End(s *stream.Summary) error {
	return p.Write(`{"summary":`, s, "}\n")
}

// A JSONWriter writes values as JSON, with text before and after each value.
type JSONWriter struct {
	w    io.Writer
	text []byte // memory that is reused for the next value
}

// NewJSONWriter returns a JSONWriter that writes to w.
func NewJSONWriter(w io.Writer) *JSONWriter { return &JSONWriter{w: w} }

// Write writes the text before, then the value as JSON, and then the text after.
func (w *JSONWriter) Write(before string, v any, after string) error {
	text, err := receipt.AppendJSON(append(w.text[:0], before...), v)
	if err != nil {
		return err
	}
	w.text = append(text, after...)
	_, err = w.w.Write(w.text)
	return err
}
