package parquet_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/internal/rows"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/scale/parquet"
)

// BenchmarkWriter measures the cost of writing a row, without the cost of verification.
func BenchmarkWriter(b *testing.B) {
	data, err := fixtures.Read("valid/full.json")
	if err != nil {
		b.Fatal(err)
	}
	doc, err := canon.Parse(data)
	if err != nil {
		b.Fatal(err)
	}
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	rep := &receipt.Report{Source: "day.jsonl", Listed: true}
	v.Verify(doc, rep)
	b.ReportAllocs()
	w := parquet.NewWriter(io.Discard)
	for n := 0; b.Loop(); n++ {
		rep.Extracted = rows.Extract(doc, rep, rep.Extracted[:0])
		rep.Index, rep.ReceiptID, rep.ReceiptHash = n+1, fmt.Appendf(rep.ReceiptID[:0], "receipt_%08d", n), canon.Sum(rep.ReceiptID)
		if err := w.Write(rows.Of(rep)); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
