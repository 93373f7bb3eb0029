package print

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A csvPrinter writes a row a receipt (RFC 4180), and a row for each finding
// about the whole input.
type csvPrinter struct{ w *csv.Writer }

func newCSVPrinter(w io.Writer) *csvPrinter {
	p := &csvPrinter{csv.NewWriter(w)}
	p.row("source", "index", "verdict", "code", "pointer", "receipt_id", "receipt_hash", "detail")
	return p
}

// row writes cells that a spreadsheet takes for text, not for formulas.
func (p *csvPrinter) row(cells ...string) {
	for i, c := range cells {
		c = cli.EscapeLine(c)
		if c != "" && strings.ContainsRune("=+-@", rune(c[0])) {
			c = "'" + c
		}
		cells[i] = c
	}
	_ = p.w.Write(cells) // end reports errors
}

func (p *csvPrinter) Report(rep *receipt.Report, _ []byte) error {
	f, hash := rep.Finding(), ""
	if !rep.ReceiptHash.IsZero() {
		hash = rep.ReceiptHash.String()
	}
	p.row(rep.Source, strconv.Itoa(rep.Index), word(rep), string(f.Code), f.Pointer, rep.ReceiptID.String(), hash, f.Detail)
	return p.w.Error()
}

func (p *csvPrinter) End(s *stream.Summary) error {
	for _, f := range s.Findings {
		p.row(f.Source, "", receipt.Refuted.String(), string(f.Code), "", "", "", f.Detail)
	}
	for _, n := range unusedEvidence(s) {
		p.row("", "", receipt.Undecided.String(), string(n.Code), "", "", "", n.Detail)
	}
	for _, n := range s.Inputs.Unreadable {
		p.row(n.Source, "", "not read", "", "", "", "", n.Detail)
	}
	p.w.Flush()
	return p.w.Error()
}
