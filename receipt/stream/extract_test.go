package stream_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestExtract verifies that each report contains the data from its own document, even if memory is
// reused or several workers are used. If there is no document, the report must contain no data.
func TestExtract(t *testing.T) {
	w := newWriter(t, "a")
	var input bytes.Buffer
	var want []string
	for i := range 500 {
		doc := w.next()
		switch i % 5 {
		case 3:
			doc = []byte(`{"receipt_id":"none"`)
			want = append(want, "")
		case 4:
			doc = altered(doc)
			fallthrough
		default:
			want = append(want, fmt.Sprintf("receipt_a_%d %t", i+1, i%5 != 4))
		}
		input.Write(append(doc, '\n'))
	}

	glean := func(doc *canon.Document, rep *receipt.Report, kept []byte) []byte {
		return fmt.Appendf(kept, "%s %t", doc.Root().Member("receipt_id").Text(), rep.Check(receipt.StepHash).Status == receipt.StatusPassed)
	}
	for _, jobs := range []int{1, 4} {
		for name, run := range map[string]*stream.Run{
			"one": stream.Verify(context.Background(), integrity(t), bytes.NewReader(input.Bytes()), stream.Options{Jobs: jobs, Extract: glean}),
			"two": stream.VerifyFiles(context.Background(), integrity(t), sources(input.Bytes(), jsonl(w.next())), stream.Options{Jobs: jobs, Extract: glean}),
		} {
			n := 0
			for rep := range run.Reports() {
				if n < len(want) && string(rep.Extracted) != want[n] {
					t.Fatalf("%s, %d jobs, report %d: extracted %q, want %q", name, jobs, n, rep.Extracted, want[n])
				}
				if clone := rep.Clone(); len(rep.Extracted) > 0 && &clone.Extracted[0] == &rep.Extracted[0] {
					t.Fatal("a clone shares the extracted values")
				}
				n++
			}
			if n < len(want) {
				t.Errorf("%s: %d reports", name, n)
			}
		}
	}
}
