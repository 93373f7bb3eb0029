package join_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
)

// TestCrowdedStream verifies that processing a stream in which every second receipt is missing
// takes about as long as sorting the stream, and that the receipt before each gap is found.
func TestCrowdedStream(t *testing.T) {
	const n = 20_000
	stream := chain.Stream{Issuer: "i", Workspace: "w"}
	var open []join.Part
	for i := range n {
		r := join.Record{Stream: stream, Issued: int64(n - i), Verdict: receipt.Verified, Place: join.Place{Index: n - i}, Mark: join.MarkLinked}
		binary.BigEndian.PutUint32(r.Stated[:], uint32(n-i))
		r.Computed, r.Previous = r.Stated, canon.Sum(r.Stated[:])
		open = append(open, r.AsOrphan(), r.AsTail())
	}

	began := time.Now()
	done, s := join.Begin(join.Strand{Stream: stream, Count: n}, open, join.Terms{})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %s", took)
	}

	if len(done) != n || s.Failures != n-1 || done[0].Mark != join.MarkOpen {
		t.Fatalf("%d done, the first %+v, %+v", len(done), done[0], s)
	}
	for _, r := range done[1:] {
		if r.Mark != join.MarkMissing || r.Related.Index != r.Place.Index-1 {
			t.Fatalf("%+v", r)
		}
	}
}
