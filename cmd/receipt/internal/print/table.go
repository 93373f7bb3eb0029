package print

import (
	"bufio"
	"encoding/csv"
	"io"
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/internal/rows"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A tablePrinter writes CSV (RFC 4180) for spreadsheets. It writes one row per receipt, and one row
// for each finding or note about the entire input.
type tablePrinter struct {
	w     *csv.Writer
	cells []string
}

func newTablePrinter(w io.Writer) *tablePrinter {
	p := &tablePrinter{w: csv.NewWriter(bufio.NewWriterSize(w, 64<<10))}
	_ = p.w.Write(rows.Columns()) // End reports errors
	return p
}

func (p *tablePrinter) Report(rep *receipt.Report, _ []byte) error { return p.write(rows.Of(rep)) }

func (p *tablePrinter) End(s *stream.Summary) error {
	for _, r := range rows.About(s) {
		if err := p.write(r); err != nil {
			return err
		}
	}
	p.w.Flush()
	return p.w.Error()
}

// write writes a row, and prevents spreadsheets from interpreting cells as formulas.
func (p *tablePrinter) write(r rows.Row) error {
	p.cells = r.AppendCells(p.cells[:0])
	for i, cell := range p.cells {
		cell = cli.EscapeLine(cell)
		if cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
			cell = "'" + cell
		}
		p.cells[i] = cell
	}
	return p.w.Write(p.cells)
}
