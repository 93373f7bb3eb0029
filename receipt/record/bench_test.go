package record_test

import (
	"testing"

	"github.com/receiptkit/receiptkit/receipt/record"
)

// BenchmarkRecord records the events in testdata/run.jsonl without creating a draft.
func BenchmarkRecord(b *testing.B) {
	s := scenarios()[0]
	lines := s.lines(b)
	size := 0
	for _, line := range lines {
		size += len(line)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		r, err := record.New(s.options())
		if err != nil {
			b.Fatal(err)
		}
		for _, line := range lines {
			if err := r.Add(line); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(lines))*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkDraft creates and checks the draft for that task.
func BenchmarkDraft(b *testing.B) {
	s := scenarios()[0]
	o := s.options()
	r, err := record.New(o)
	if err != nil {
		b.Fatal(err)
	}
	for _, line := range s.lines(b) {
		if err := r.Add(line); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := r.Draft(); err != nil {
			b.Fatal(err)
		}
	}
}
