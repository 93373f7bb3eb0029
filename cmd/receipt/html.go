package main

import (
	"io"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/serve/page"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// An htmlPrinter writes an audit report for people: one file to read and print.
type htmlPrinter struct {
	w io.Writer
	page.Report
}

func (p *htmlPrinter) report(rep *receipt.Report, text []byte) error {
	p.Add(rep, text)
	return nil
}

func (p *htmlPrinter) end(s *stream.Summary) error { return p.Render(p.w, s) }
