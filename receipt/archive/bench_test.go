package archive_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// largeReceipt is a receipt of about 11 KB, the mean of the benchmark corpus: the
// fixture with more tool calls.
func largeReceipt(tb testing.TB) []byte {
	tb.Helper()
	small := bytes.TrimSuffix(bytes.TrimSpace(read(tb, "valid/task.json")), []byte("}"))
	b := append(bytes.Clone(small), `,"more":{"calls":[`...)
	for i := 0; len(b) < 11_000; i++ {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"id":"call_%04d","tool":"fs.write","started_at":"2026-04-25T19:17:%02dZ","duration_ms":%d,"cost":%d.25,"ok":true,"output":"wrote 3 lines to src/parser/token_%d.go"}`,
			i, i%60, 100+i, i, i)
	}
	doc, err := canon.Parse(append(b, `]}}`...))
	if err != nil {
		tb.Fatal(err)
	}
	return doc.AppendCanonical(nil)
}

func BenchmarkAppend(b *testing.B) {
	text := largeReceipt(b)
	c, doc := archive.NewCodec(), parse(b, text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		buf, _ = c.Append(buf[:0], doc)
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	text := largeReceipt(b)
	c := archive.NewCodec()
	item := encode(b, c, text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		buf, _ = c.AppendJSON(buf[:0], item)
	}
	if !bytes.Equal(buf, text) {
		b.Fatal("the JSON differs")
	}
}

func BenchmarkReader(b *testing.B) {
	c := archive.NewCodec()
	item := encode(b, c, largeReceipt(b))
	sequence := bytes.Repeat(item, 1000)
	b.SetBytes(int64(len(sequence)))
	b.ReportAllocs()
	for b.Loop() {
		r := archive.NewReader(bytes.NewReader(sequence))
		for {
			if _, err := r.Next(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}
