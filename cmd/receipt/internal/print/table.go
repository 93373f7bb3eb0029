package print

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/rows"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A tablePrinter writes a row a receipt, and a row for each thing that is about the whole
// input, as CSV.
type tablePrinter struct {
	out *csvWriter
}

func (p *tablePrinter) Report(rep *receipt.Report, _ []byte) error { return p.out.Write(rows.Of(rep)) }

func (p *tablePrinter) End(s *stream.Summary) error {
	for _, r := range rows.About(s) {
		if err := p.out.Write(r); err != nil {
			return err
		}
	}
	return p.out.Close()
}
