package trust

import (
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestEarliest verifies that the earliest of several timestamps for a statement is used, regardless
// of their order.
func TestEarliest(t *testing.T) {
	noon := time.Date(2026, 4, 25, 12, 0, 0, 0, time.UTC)
	at := func(d canon.Digest, after time.Duration) *Timestamp {
		return &Timestamp{Timestamp: receipt.Timestamp{Digest: d, ProvenTime: receipt.ProvenTime{Time: receipt.At(noon.Add(after))}}}
	}
	one, two := canon.Sum([]byte("1")), canon.Sum([]byte("2"))
	for _, order := range [][2]time.Duration{{0, time.Hour}, {time.Hour, 0}} {
		f := timestampFlags{Statements: map[canon.Digest]*Timestamp{}}
		f.keep(at(one, order[0]))
		f.keep(at(two, 2*time.Hour))
		f.keep(at(one, order[1]))
		if got := f.Statements[one].Time.Time; !got.Equal(noon) || len(f.Statements) != 2 {
			t.Errorf("%v: %v of %d", order, got, len(f.Statements))
		}
	}
}
