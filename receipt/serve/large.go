package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/receiptkit/receiptkit/internal/conn"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// largeLine is the maximum length, in bytes, of a line in a stream that is not treated as large. A
// typical receipt is a hundredth of this size.
const largeLine = 1 << 20

// largeStreams is the maximum number of large streams that are verified concurrently.
const largeStreams = 2

// headOfStream is the number of bytes that are kept from the beginning of a stream, to describe the
// stream if it contains no receipts.
const headOfStream = 4 << 10

// enterInterval is the interval at which a large stream tries to acquire a slot.
const enterInterval = 20 * time.Millisecond

// A gate admits only a few streams with long lines at the same time, because verifying a line uses
// several times as much memory as the line itself. The gate cannot see the content of a compressed
// stream, so every compressed stream is treated as large. It cannot see the ends of the items in a
// CBOR sequence, either, so a sequence is treated as large if it is longer than largeLine.
type gate struct {
	c      *streamed
	from   io.Reader // reads the body of the request
	kind   stream.Kind
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex // held during a read
	inside bool       // the stream has one of the slots for large streams
	err    error
	begun  bool
	packed bool
	line   int // number of bytes since the last newline

	first atomic.Pointer[[]byte] // the beginning of the body; atomic, because a waiting read holds mu
}

func newGate(c *streamed, from io.Reader, kind stream.Kind) *gate {
	ctx, cancel := context.WithCancel(c.r.Context())
	return &gate{c: c, from: from, kind: kind, ctx: ctx, cancel: cancel}
}

// close ends reading, and releases the slot for a large stream.
func (g *gate) close() {
	g.cancel()
	g.c.body.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside {
		g.inside = false
		g.c.s.large.Give(g.c.share(), 1)
	}
	if g.err == nil {
		g.err = conn.ErrClosed
	}
}

// refused returns the reason why the stream was refused, or nil.
func (g *gate) refused() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f, ok := g.err.(*protocol.Error); ok {
		return f
	}
	return nil
}

// Read returns data as long as the stream is small or has a slot for large streams.
func (g *gate) Read(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return 0, g.err
	}

	// The current line is measured after each read. If the data makes the stream large, Read waits
	// for a slot before it returns the data.
	n, err := g.from.Read(p)
	g.see(p[:n])
	if !g.inside && (g.packed || g.line > largeLine) {
		if g.err = g.enter(); g.err != nil {
			return 0, g.err
		}
		g.inside = true
	}

	return n, err
}

// see updates the length of the current line. Package stream reads a quarter of largeLine at a
// time, so a line within a single piece is never large.
func (g *gate) see(piece []byte) {
	if len(piece) == 0 {
		return
	}
	if !g.begun {
		g.begun, g.packed = true, mayBePacked(piece[0])
		head := bytes.Clone(piece[:min(len(piece), headOfStream)])
		g.first.Store(&head)
	}

	// The gate recognizes only the ends of lines; a body in any other form is measured like a
	// single line.
	end := bytes.IndexByte(piece, '\n')
	if g.kind != stream.Lines || end < 0 || g.line+end > largeLine {
		g.line += len(piece)
		return
	}
	g.line = len(piece) - bytes.LastIndexByte(piece, '\n') - 1
}

// head returns the part of the body that arrived in the first read, up to headOfStream bytes.
func (g *gate) head() []byte {
	if first := g.first.Load(); first != nil {
		return *first
	}
	return nil
}

// mayBePacked reports whether gzip data, a zstd frame, or a skippable zstd frame can begin with the
// given byte. No receipt begins with such a byte.
func mayBePacked(first byte) bool {
	return first == 0x1f || first == 0x28 || first&0xf0 == 0x50
}

// enter waits for a slot for large streams, but no longer than a client may be idle. There may
// never be a free slot, because a stream may hold its slot indefinitely.
func (g *gate) enter() error {
	ctx, cancel := context.WithTimeout(g.ctx, g.c.s.limits.Idle)
	defer cancel()
	again := time.NewTicker(enterInterval)
	defer again.Stop()

	for !g.c.s.large.Take(g.c.share(), 1) {
		select {
		case <-again.C:
		case <-ctx.Done():
			return protocol.Busy(1, "as many streams of large receipts as this server allows are being verified")
		}
	}
	return nil
}

// These are limits on a stream and on the response to it. Typical receipts use only a few percent
// of these limits.
const (
	mostRatio   = 200     // decompressed bytes per compressed byte
	mostStreams = 4096    // streams of receipts, with names of 1 KiB each on average
	mostIndexed = 1 << 16 // receipts whose IDs are compared with each other
	mostOthers  = 10_000  // documents that are not receipts
	mostAnswer  = 64      // bytes of the response per byte of the body received
	freeAnswer  = 16 << 20
)

// bounded counts the reports of a stream, and ends the stream if a limit is exceeded.
type bounded struct {
	c      *streamed
	others int
}

// report is called before each report is written to the response.
func (b *bounded) report(rep *receipt.Report) error {
	if noReceipt(rep) {
		if b.others++; b.others > mostOthers {
			return protocol.Invalid("", "expected receipts: more than %d lines are none", mostOthers)
		}
	}

	if received := b.c.body.Received(); b.c.answer.Written() > freeAnswer+mostAnswer*received {
		return &protocol.Error{Code: protocol.CodeTooLarge,
			Message: fmt.Sprintf("the answer is %d times as long as the %d bytes received; send fewer receipts at a time", mostAnswer, received)}
	}
	return nil
}

// noReceipt reports whether a document was refuted because it does not have the form of a receipt.
func noReceipt(rep *receipt.Report) bool {
	if rep.Verdict != receipt.Refuted {
		return false
	}
	step := rep.Finding().Step
	return step == receipt.StepParse || step == receipt.StepSchema
}
