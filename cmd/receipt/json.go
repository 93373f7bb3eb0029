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
	jsonWriter
	begun bool
}

func (p *jsonPrinter) report(rep *receipt.Report, _ []byte) error {
	separator := ",\n"
	if !p.begun {
		p.begun, separator = true, reportsBegin
	}
	return p.write(separator, rep, "")
}

func (p *jsonPrinter) end(s *stream.Summary) error {
	separator := "\n],\n" + `"summary":`
	if !p.begun {
		separator = reportsBegin[:len(reportsBegin)-1] + separator[1:]
	}
	return p.write(separator, s, "}\n")
}

// An ndjsonPrinter writes a report a line, and {"summary": ...} at the end. A
// stream without that last line is not complete.
type ndjsonPrinter struct{ jsonWriter }

func (p *ndjsonPrinter) report(rep *receipt.Report, _ []byte) error {
	return p.write("", rep, "\n")
}

func (p *ndjsonPrinter) end(s *stream.Summary) error {
	return p.write(`{"summary":`, s, "}\n")
}

// A jsonWriter writes values as JSON, each with what stands around it.
type jsonWriter struct {
	w    io.Writer
	text []byte // memory for the next
}

func (w *jsonWriter) write(before string, v any, after string) error {
	text, err := receipt.AppendJSON(append(w.text[:0], before...), v)
	if err != nil {
		return err
	}
	w.text = append(text, after...)
	_, err = w.w.Write(w.text)
	return err
}
