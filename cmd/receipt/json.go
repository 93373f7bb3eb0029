package main

import (
	"io"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A jsonPrinter writes {"reports": [...], "summary": {...}} as it goes, a report
// a line. No line but these looks like a document, so that a report that is found
// among receipts is not taken for lines.
type jsonPrinter struct {
	w     io.Writer
	begun bool
}

func (p *jsonPrinter) report(rep *receipt.Report, _ []byte) error {
	separator := ",\n"
	if !p.begun {
		p.begun, separator = true, reportsBegin
	}
	return writeJSON(p.w, separator, rep, "")
}

const reportsBegin = "{\n\"reports\":[\n"

func (p *jsonPrinter) end(s *stream.Summary) error {
	separator := "\n],\n" + `"summary":`
	if !p.begun {
		separator = reportsBegin[:len(reportsBegin)-1] + separator[1:]
	}
	return writeJSON(p.w, separator, s, "}\n")
}

// An ndjsonPrinter writes a report a line, and {"summary": ...} at the end. A
// stream without that last line is not complete.
type ndjsonPrinter struct{ w io.Writer }

func (p *ndjsonPrinter) report(rep *receipt.Report, _ []byte) error {
	return writeJSON(p.w, "", rep, "\n")
}

func (p *ndjsonPrinter) end(s *stream.Summary) error {
	return writeJSON(p.w, `{"summary":`, s, "}\n")
}

func writeJSON(w io.Writer, before string, v any, after string) error {
	text, err := stream.AppendJSON([]byte(before), v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, after...))
	return err
}
