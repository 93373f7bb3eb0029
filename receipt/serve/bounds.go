package serve

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// withDefaults fills in what is zero.
func (l Limits) withDefaults() Limits {
	l.Document = orElse(l.Document, receipt.MaxBytes)
	l.Document = min(l.Document, receipt.MaxBytes)
	l.Requests = orElse(l.Requests, 256)
	l.Memory = orElse(l.Memory, 256<<20)
	l.Streams = orElse(l.Streams, 8)
	l.LargeStreams = orElse(l.LargeStreams, 1)
	l.Jobs = orElse(l.Jobs, runtime.GOMAXPROCS(0))
	l.Idle = orElse(l.Idle, 30*time.Second)
	l.Body = orElse(l.Body, time.Minute)
	return l
}

func orElse[T int | int64 | time.Duration](value, other T) T {
	if value <= 0 {
		return other
	}
	return value
}

// document is the largest body of one receipt in a form.
func (l *Limits) document(cbor bool) int64 {
	if !cbor {
		return l.Document
	}
	const most = receipt.MaxBytes
	return l.Document * archive.MaxItemBytes / most
}

// slots are so many places, for requests or for work.
type slots chan struct{}

func newSlots(n int) slots { return make(slots, n) }

// try takes a place if there is one.
func (s slots) try() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

// take waits for a place.
func (s slots) take(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s slots) leave() { <-s }

// A budget is an amount of memory that requests share.
type budget struct {
	mu   sync.Mutex
	left int64
}

func (b *budget) take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
}
