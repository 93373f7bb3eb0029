package archive_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// largeReceipt is a receipt of about 11 KB, which is the mean size in the benchmark corpus. It is a
// fixture with additional tool calls.
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
	item := encode(b, archive.NewCodec(), largeReceipt(b))
	long := append([]byte{0x9a, 0x01, 0xc9, 0xc3, 0x80}, make([]byte, 30_000_000)...)
	for name, test := range map[string]struct {
		sequence []byte
		size     int
	}{
		"receipts":             {bytes.Repeat(item, 1000), 1 << 20},
		"long item":            {long, 1 << 20},
		"long, 100 bytes each": {long, 100},
		"million of 5 bytes":   {bytes.Repeat([]byte("\xa1\x61a\x18\x64"), 1_000_000), 1 << 20},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(test.sequence)))
			b.ReportAllocs()
			for b.Loop() {
				drain(b, archive.NewReader(&chunked{rest: test.sequence, size: test.size}))
			}
		})
	}
}

func drain(tb testing.TB, r *archive.Reader) {
	for {
		if _, err := r.Next(); err == io.EOF {
			return
		} else if err != nil {
			tb.Fatal(err)
		}
	}
}
