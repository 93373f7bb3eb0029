package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/protocol/conn"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// largeLine is how long a line of a stream may be, in bytes, before the stream counts
// as large. Receipts are usually a hundredth of it.
const largeLine = 1 << 20

// largeStreams is how many large streams are verified at the same time.
const largeStreams = 2

// headOfStream is how many bytes of a stream are kept to tell what it is, if it is none of
// receipts.
const headOfStream = 4 << 10

// enterInterval is how often a stream looks for a place among the few.
const enterInterval = 20 * time.Millisecond

// A gate lets few streams at a time have long lines, since a line that is being
// judged takes a multiple of its bytes. What a compressed stream holds cannot be seen
// here, so it is large; where items of a CBOR sequence end cannot be seen either, so
// a sequence is large when it is longer than a line may be.
type gate struct {
	c      *streamed
	from   io.Reader // of the call's body
	kind   stream.Kind
	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex // held during a read
	inside bool       // one of the few
	err    error
	begun  bool
	packed bool
	line   int // bytes since the last line end

	first atomic.Pointer[[]byte] // what the body begins with; a read that waits holds the lock
}

func newGate(c *streamed, from io.Reader, kind stream.Kind) *gate {
	ctx, cancel := context.WithCancel(c.r.Context())
	return &gate{c: c, from: from, kind: kind, ctx: ctx, cancel: cancel}
}

// close ends the reading, and leaves the few.
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

// refused is why the stream was not let in; nil when it was.
func (g *gate) refused() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if f, ok := g.err.(*protocol.Error); ok {
		return f
	}
	return nil
}

// Read reads on when the stream is small, or one of the few.
func (g *gate) Read(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return 0, g.err
	}

	// What was read is measured first: the piece that makes a line large waits for its place.
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

// see measures the line that the body is in. Package stream reads a quarter of
// largeLine at a time, so that no line within one piece is large.
func (g *gate) see(piece []byte) {
	if len(piece) == 0 {
		return
	}
	if !g.begun {
		g.begun, g.packed = true, mayBePacked(piece[0])
		head := bytes.Clone(piece[:min(len(piece), headOfStream)])
		g.first.Store(&head)
	}

	// Only lines have an end that can be seen; anything else counts as one line.
	end := bytes.IndexByte(piece, '\n')
	if g.kind != stream.Lines || end < 0 || g.line+end > largeLine {
		g.line += len(piece)
		return
	}
	g.line = len(piece) - bytes.LastIndexByte(piece, '\n') - 1
}

// head is the beginning of the body, as far as it came at once.
func (g *gate) head() []byte {
	if first := g.first.Load(); first != nil {
		return *first
	}
	return nil
}

// mayBePacked reports the first byte of gzip, of zstd and of its skippable frames. No
// receipt begins with one.
func mayBePacked(first byte) bool {
	return first == 0x1f || first == 0x28 || first&0xf0 == 0x50
}

// enter waits for a place among the few, as long as a client may let us wait. Whoever
// has a place may keep it as long as it likes, so that nobody's turn is sure to come.
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

// What one stream may make of its bytes. Receipts come to a few percent of it.
const (
	mostRatio   = 200     // bytes that a compressed body may hold for each of its own
	mostStreams = 4096    // streams of receipts, whose names have a KiB each on average
	mostIndexed = 1 << 16 // receipts whose ids are compared
	mostOthers  = 10_000  // lines that are not receipts
	mostAnswer  = 64      // bytes of the answer for each byte of the body
	freeAnswer  = 16 << 20
)

// bounded counts what is answered to a stream, and refuses to go on.
type bounded struct {
	c      *streamed
	others int
}

// report is asked before each report is written.
func (b *bounded) report(rep *receipt.Report) error {
	if noReceipt(rep) {
		if b.others++; b.others > mostOthers {
			return protocol.Invalid("", "expected receipts: more than %d lines are none", mostOthers)
		}
	}

	if received := b.c.body.Received(); b.c.answer.Written() > freeAnswer+mostAnswer*received {
		return &protocol.Error{Code: protocol.CodeTooLarge,
			Message: fmt.Sprintf("the answer has become %d times as long as the %d bytes that were sent: send fewer receipts at a time", mostAnswer, received)}
	}
	return nil
}

// noReceipt reports whether a document does not even have the form of a receipt.
func noReceipt(rep *receipt.Report) bool {
	if rep.Verdict != receipt.Refuted {
		return false
	}
	step := rep.Finding().Step
	return step == receipt.StepParse || step == receipt.StepSchema
}
