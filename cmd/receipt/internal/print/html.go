package print

import (
	"io"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/serve/page"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// An htmlPrinter writes an audit report for people, as one file for reading and printing.
type htmlPrinter struct {
	w    io.Writer
	page page.Report
}

func (p *htmlPrinter) Report(rep *receipt.Report, text []byte) error {
	p.page.Add(rep, text)
	return nil
}

func (p *htmlPrinter) End(s *stream.Summary) error { return p.page.Render(p.w, s) }
