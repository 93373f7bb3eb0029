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

// largeLine is the length of a line, in bytes, above which a stream counts as large. Receipts are
// usually a hundredth of this size.
const largeLine = 1 << 20

// largeStreams is the maximum number of large streams that are verified concurrently.
const largeStreams = 2

// headOfStream is the number of bytes at a stream's beginning that are kept to identify the stream
// if it contains no receipts.
const headOfStream = 4 << 10

// enterInterval is the interval at which a large stream tries to get a slot.
const enterInterval = 20 * time.Millisecond

// A gate admits only a few streams with long lines at a time, because judging a line uses several
// times its size in memory. A compressed stream's content is not visible here, so every compressed
// stream counts as large. The ends of items in a CBOR sequence are not visible either, so a
// sequence counts as large if it is longer than the limit for a line.
type gate struct {
	c      *streamed
	from   io.Reader // of the call's body
	kind   stream.Kind
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex // held during a read
	inside bool       // the stream has a slot for large streams
	err    error
	begun  bool
	packed bool
	line   int // bytes since the last line end

	first atomic.Pointer[[]byte] // the beginning of the body; atomic, because a waiting read holds the lock
}

func newGate(c *streamed, from io.Reader, kind stream.Kind) *gate {
	ctx, cancel := context.WithCancel(c.r.Context())
	return &gate{c: c, from: from, kind: kind, ctx: ctx, cancel: cancel}
}

// close ends reading and releases the slot.
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

// refused returns the reason why the stream was not admitted, or nil.
func (g *gate) refused() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f, ok := g.err.(*protocol.Error); ok {
		return f
	}
	return nil
}

// Read reads if the stream is small or has a slot for large streams.
func (g *gate) Read(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return 0, g.err
	}

	// The line is measured after each read. If this piece makes the stream large, wait for a slot
	// before returning the piece.
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

// see measures the current line. Package stream reads a quarter of largeLine at a time, so a line
// within one piece is never large.
func (g *gate) see(piece []byte) {
	if len(piece) == 0 {
		return
	}
	if !g.begun {
		g.begun, g.packed = true, mayBePacked(piece[0])
		head := bytes.Clone(piece[:min(len(piece), headOfStream)])
		g.first.Store(&head)
	}

	// Only lines have a visible end; any other body counts as a single line.
	end := bytes.IndexByte(piece, '\n')
	if g.kind != stream.Lines || end < 0 || g.line+end > largeLine {
		g.line += len(piece)
		return
	}
	g.line = len(piece) - bytes.LastIndexByte(piece, '\n') - 1
}

// head returns the beginning of the body, as much of it as arrived together.
func (g *gate) head() []byte {
	if first := g.first.Load(); first != nil {
		return *first
	}
	return nil
}

// mayBePacked reports whether a byte can begin gzip, zstd, or a skippable zstd frame. No receipt
// begins with such a byte.
func mayBePacked(first byte) bool {
	return first == 0x1f || first == 0x28 || first&0xf0 == 0x50
}

// enter waits for a slot, but at most for the time that a client may be idle. A stream may keep its
// slot indefinitely, so a slot may never become free.
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

// Limits for a stream and its response. Receipts use only a few percent of these limits.
const (
	mostRatio   = 200     // decompressed bytes for each compressed byte
	mostStreams = 4096    // streams of receipts, whose names may have 1 KiB each on average
	mostIndexed = 1 << 16 // receipts whose IDs are compared
	mostOthers  = 10_000  // lines that are not receipts
	mostAnswer  = 64      // bytes of the response per byte of the body
	freeAnswer  = 16 << 20
)

// bounded counts a stream's reports, and ends the stream if a limit is exceeded.
type bounded struct {
	c      *streamed
	others int
}

// report is called before each report is written.
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

// noReceipt reports whether a document does not have the form of a receipt.
func noReceipt(rep *receipt.Report) bool {
	if rep.Verdict != receipt.Refuted {
		return false
	}
	step := rep.Finding().Step
	return step == receipt.StepParse || step == receipt.StepSchema
}
