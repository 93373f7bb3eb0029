package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/receiptkit/receiptkit/bench/internal/result"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// steadyStream counts the allocations per additional receipt in a verified stream. It compares the
// allocations for the first half of the receipts with the allocations for all of them.
func (b *bench) steadyStream() []result.Line {
	b.sample.warm()
	first := b.sample.first
	half := len(first) / 2
	var counts []float64
	for _, n := range []int{half, half, 2 * half} { // the first run is only for warming up
		text := append(bytes.Join(first[:n], []byte("\n")), '\n')
		count := must(mallocs(func() error { return verifyStream(b.ctx, b.sample.set, bytes.NewReader(text), n) }))
		counts = append(counts, float64(count))
	}
	more := max(0, (counts[2]-counts[1])/float64(half))
	line := exactly("stream/allocations", "verify a stream, allocations a receipt", float64(int(more)))
	line.Note = fmt.Sprintf("%.2f with the growing index of ids", more)
	return []result.Line{line}
}

func mallocs(f func() error) (uint64, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := f()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs, err
}

// verifyStream returns an error unless r contains the given number of receipts and all of them are
// verified. If the set is nil, signatures are not verified.
func verifyStream(ctx context.Context, set *keys.Set, r io.Reader, receipts int) error {
	sum, err := stream.Verify(ctx, verifier(set), r, stream.Options{Jobs: 1}).Summary()
	if err != nil {
		return err
	}
	if sum.Verdict() != receipt.Verified || sum.Receipts != receipts {
		return fmt.Errorf("%v, %d receipts, expected %d", sum.Verdict(), sum.Receipts, receipts)
	}
	return nil
}
