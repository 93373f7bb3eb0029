package stream_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestTimesNotTold verifies that the time of issue is not compared with other times if the source
// did not report it.
func TestTimesNotTold(t *testing.T) {
	const told, untold = "2026-04-25T19:00:00Z", "1970-01-01T00:00:00Z"
	for _, c := range []struct {
		issued   [2]string
		nobodys  int // number of the time that is unreported, counted from 1; 0 for none
		warnings int
	}{
		{[2]string{told, untold}, 0, 1},
		{[2]string{told, untold}, 2, 0},
		{[2]string{told, untold}, 1, 0},
		{[2]string{untold, told}, 0, 0},
	} {
		w := newWriter(t, "a")
		var list [][]byte
		for i, at := range c.issued {
			d := w.draft()
			issued, err := time.Parse(time.RFC3339, at)
			if err != nil {
				t.Fatal(err)
			}
			d.IssuedAt = receipt.At(issued)
			d.Lifecycle.StartedAt, d.Lifecycle.CompletedAt = d.IssuedAt, d.IssuedAt
			if c.nobodys == i+1 {
				d.Metadata = receipt.Object{"unreported": []any{"/issued_at", "/lifecycle/completed_at", "/lifecycle/started_at"}}
			}
			s, err := receipt.Seal(d, w.head)
			if err != nil {
				t.Fatal(err)
			}
			w.head = s.Head()
			list = append(list, s.JSON())
		}

		run, warned := stream.Verify(t.Context(), integrity(t), bytes.NewReader(jsonl(list...)), stream.Options{}), 0
		for rep := range run.Reports() {
			for _, n := range rep.Warnings {
				if n.Code == receipt.CodeTimeOrder {
					warned++
				}
			}
		}
		if _, err := run.Summary(); err != nil || warned != c.warnings {
			t.Errorf("%v, of which %d is not reported: %d warnings, expected %d; %v", c.issued, c.nobodys, warned, c.warnings, err)
		}
	}
}
