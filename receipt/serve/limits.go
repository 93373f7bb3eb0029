package serve

import (
	"runtime"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
)

// withDefaults fills in what is zero.
func (l Limits) withDefaults() Limits {
	l.Document = orElse(l.Document, receipt.MaxBytes)
	l.Document = min(l.Document, receipt.MaxBytes)
	l.Requests = orElse(l.Requests, 256)
	l.Memory = orElse(l.Memory, 128<<20)
	l.Judging = orElse(l.Judging, 256<<20)
	l.Streams = orElse(l.Streams, 8)
	l.LargeStreams = orElse(l.LargeStreams, 2)
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
