package print

import (
	"bufio"
	"encoding/csv"
	"io"
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/rows"
)

// A csvWriter writes a table as CSV (RFC 4180), for people and their spreadsheets.
type csvWriter struct {
	w     *csv.Writer
	cells []string
}

func newCSVWriter(w io.Writer) *csvWriter {
	c := &csvWriter{w: csv.NewWriter(bufio.NewWriterSize(w, 64<<10))}
	_ = c.w.Write(rows.Columns()) // Close reports errors
	return c
}

// Write writes cells that a spreadsheet takes for text or numbers, not for formulas.
func (c *csvWriter) Write(r rows.Row) error {
	c.cells = r.AppendCells(c.cells[:0])
	for i, cell := range c.cells {
		cell = cli.EscapeLine(cell)
		if cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
			cell = "'" + cell
		}
		c.cells[i] = cell
	}
	return c.w.Write(c.cells)
}

func (c *csvWriter) Close() error {
	c.w.Flush()
	return c.w.Error()
}
