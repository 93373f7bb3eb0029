package serve

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/internal/conn"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// These are sizes and times for a streamed response.
const (
	streamBuffer = 64 << 10
	streamPause  = 100 * time.Millisecond // maximum time for which a report is held back to be sent together with further reports
)

// A streamed call reads the body of the request while it writes the response.
type streamed struct {
	*call
	body   *conn.Body
	answer *conn.Answer
}

// verifyStream responds with one report per line, in the order of the receipts in the body,
// followed by a summary. Only the summary line shows that the entire body was read and verified. If
// an error occurs after the first report, the last line contains that error, and the connection is
// aborted.
func verifyStream(one *call, v *Verifier, judge *judge, kind stream.Kind, o stream.Options) error {
	c := &streamed{call: one}
	c.body, c.answer = c.r.Conn()
	encoding, err := protocol.ContentEncoding(c.r.Request, "gzip", "zstd")
	if err != nil {
		return err
	}
	if !c.s.streams.Take(c.share(), 1) {
		return protocol.Busy(1, "as many streams as this server allows are being verified")
	}
	defer c.s.streams.Give(c.share(), 1)

	// Without this call, an HTTP/1 server stops reading the body when the first report is written
	// (net/http).
	c.answer.Duplex()
	in, err := encodedBody(c, encoding)
	if err != nil {
		return err
	}

	// The gate reads the bytes as they were sent, which may be compressed.
	g := newGate(c, in, kind)
	defer g.close()
	o.Jobs, o.Unwrap = c.s.limits.Jobs, judge.unwrap
	o.Bounds = stream.Bounds{Ratio: mostRatio, Streams: mostStreams, Indexed: mostIndexed, Turn: c.heavyTurn}
	started := receipt.At(c.s.options.Now())
	run := stream.VerifyFiles(c.r.Context(), judge.Verifier, []stream.Source{bodyOf(sourceName, kind, g)}, o)
	out := newLineWriter(c)
	defer out.halt()

	// The last line contains the summary or an error.
	err = copyReports(c, run, g, judge.Scope(), out)
	if err == nil {
		err = copySummary(c, run, g, v, started, out)
	}

	return out.end(err)
}

// encodedBody returns the body if its first bytes match its Content-Encoding. Package stream
// decompresses the body within its own limits.
func encodedBody(c *streamed, encoding string) (io.Reader, error) {
	if encoding == "" {
		return c.body, nil
	}

	// The magic bytes are specified in RFC 1952 section 2.3.1 and RFC 8878 section 3.1.1.
	magic := map[string][]byte{"gzip": {0x1f, 0x8b}, "zstd": {0x28, 0xb5, 0x2f, 0xfd}}[encoding]
	head := make([]byte, len(magic))
	n, err := io.ReadFull(c.body, head)
	switch {
	case err != nil && c.body.Failure() != nil:
		return nil, protocol.Unread(c.body.Failure())
	case !bytes.Equal(head[:n], magic):
		return nil, protocol.Invalid("Content-Encoding", "expected a body in %s, as its Content-Encoding states", encoding)
	}
	return io.MultiReader(bytes.NewReader(head), c.body), nil
}

func copyReports(c *streamed, run *stream.Run, g *gate, scope receipt.Scope, out *lineWriter) error {
	judged := c.s.meters.judged(scope)
	bounds := &bounded{c: c}
	for rep := range run.Reports() {
		if err := bounds.report(rep); err != nil {
			return err
		}
		judged(rep.Verdict)
		hintFirst(rep, g.head())
		if err := out.report(rep); err != nil {
			return protocol.ClientClosed(err)
		}
	}
	return nil
}

// copySummary writes the summary as the last line.
func copySummary(c *streamed, run *stream.Run, g *gate, v *Verifier, started receipt.Time, out *lineWriter) error {
	sum, err := run.Summary()
	if err != nil {
		return incomplete(c, err, g)
	}
	sum.Tool, sum.Started, sum.Finished = c.s.options.Tool, started, receipt.At(c.s.options.Now())
	if sum.Scope == receipt.ScopeFull {
		sum.Keys = v.keys
	}
	return out.write(struct {
		Summary *stream.Summary `json:"summary"`
	}{sum})
}

// incomplete returns the error that explains why a stream has no summary.
func incomplete(c *streamed, err error, g *gate) error {
	g.close() // the gate may still be reading
	var partial *stream.IncompleteError

	// A disconnected client is checked first, because the disconnect may have caused the other
	// errors.
	switch {
	case c.r.Context().Err() != nil && c.body.Failure() == nil:
		return protocol.ClientClosed(err)
	case g.refused() != nil:
		return g.refused()
	case c.body.Failure() != nil:
		return protocol.Unread(c.body.Failure())
	case errors.Is(err, stream.ErrStreams):
		return protocol.Invalid("expect_head", "the body holds several streams, so one hash or count cannot be about it")
	case errors.Is(err, stream.ErrManyStreams):
		return protocol.Invalid("", "the body holds more than %d streams, or names of more than %d MiB: send them one after the other", mostStreams, mostStreams>>10)
	case errors.As(err, &partial):
		return protocol.Invalid("", "the body is not a whole stream of receipts: %.300s", partial.Notices[0].Detail)
	}

	return protocol.ClientClosed(err)
}

// A lineWriter writes values to the response as JSON, one per line. It sends lines when enough of
// them have accumulated, or when no further value has been written for a while.
type lineWriter struct {
	c    *streamed
	text []byte

	mu      sync.Mutex // guards the response, which sendPauses also writes to
	w       *bufio.Writer
	begun   bool
	waiting bool
	err     error

	halted        sync.Once
	stop, stopped chan struct{}
}

func newLineWriter(c *streamed) *lineWriter {
	l := &lineWriter{c: c, w: bufio.NewWriterSize(c.answer, streamBuffer), stop: make(chan struct{}), stopped: make(chan struct{})}
	go l.sendPauses()
	return l
}

func (l *lineWriter) report(r *receipt.Report) error {
	return l.line(receipt.AppendJSON(l.text[:0], r))
}

func (l *lineWriter) write(v any) error { return l.line(receipt.AppendJSON(l.text[:0], v)) }

func (l *lineWriter) line(text []byte, err error) error {
	if err != nil {
		return protocol.Internal(err, "a report could not be written")
	}
	l.text = append(text, '\n')

	l.mu.Lock()
	defer l.mu.Unlock()
	l.begin()
	l.waiting = true
	if l.err == nil {
		_, l.err = l.w.Write(l.text)
	}
	return l.err
}

func (l *lineWriter) begin() {
	if !l.begun {
		l.begun = true
		h := l.c.answer.Header()
		h.Set("Content-Type", mediaNDJSON)
		h.Set("X-Accel-Buffering", "no") // otherwise, a proxy would hold back the lines
		l.c.answer.WriteHeader(http.StatusOK)
	}
}

// sendPauses sends lines that are still waiting, at regular intervals.
func (l *lineWriter) sendPauses() {
	defer close(l.stopped)
	ticker := time.NewTicker(streamPause)
	defer ticker.Stop()

	// There may be a long time between two reports, so lines do not wait for further reports for
	// long.
	for {
		select {
		case <-ticker.C:
			l.mu.Lock()
			if l.waiting {
				l.send()
			}
			l.mu.Unlock()
		case <-l.stop:
			return
		}
	}
}

func (l *lineWriter) send() {
	l.waiting = false
	if l.err == nil {
		l.err = l.w.Flush()
	}
	if l.err == nil {
		l.err = l.c.answer.Flush()
	}
}

// halt ends sendPauses.
func (l *lineWriter) halt() {
	l.halted.Do(func() { close(l.stop) })
	<-l.stopped
}

// end sends the remaining lines. If an error occurs before any line has been written, the response
// is an ordinary error response. Otherwise, the error is written as the last line, and the response
// is aborted.
func (l *lineWriter) end(err error) error {
	l.halt()

	// Before the first line is written, the status of the response can still be set.
	if err != nil && !l.begun {
		return err
	}
	if err != nil {
		var f *protocol.Error
		if errors.As(err, &f) && f.Code != protocol.CodeInternal {
			_ = l.write(f.Envelope(l.c.r.ID))
		}
	}

	l.send()
	if err == nil {
		err = l.err
	}

	return err
}
