package conn

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// An Answer writes a response within the idle limit and remembers what it was.
type Answer struct {
	http.ResponseWriter
	control *http.ResponseController
	idle    time.Duration
	status  int // 0: nothing was written
	bytes   atomic.Int64
	unread  bool // a write failed: the client has left, or does not read
}

// NewAnswer returns an answer of which each piece has to be read within idle.
func NewAnswer(w http.ResponseWriter, idle time.Duration) *Answer {
	a := &Answer{ResponseWriter: w, control: http.NewResponseController(w), idle: idle}
	a.extend()
	return a
}

// extend gives the client time to read on. A writer without deadlines, as in
// tests, has none.
func (a *Answer) extend() { _ = a.control.SetWriteDeadline(time.Now().Add(a.idle)) }

// WriteHeader remembers the status.
func (a *Answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK { // not 1xx
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// writePiece is how many bytes a client has to read within the idle limit.
const writePiece = 64 << 10

// Write writes to a client that reads, without a copy however much it is.
func (a *Answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}

	// In pieces, each of which has the idle limit for itself.
	written := 0
	for {
		piece := p[written:min(written+writePiece, len(p))]
		a.extend()
		n, err := a.ResponseWriter.Write(piece)
		written += n
		a.bytes.Add(int64(n))
		a.unread = a.unread || err != nil
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// Unwrap is for http.ResponseController.
func (a *Answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Flush sends what was written.
func (a *Answer) Flush() error {
	a.extend()
	return a.control.Flush()
}

// Status is the status that was written; 0 when nothing was.
func (a *Answer) Status() int { return a.status }

// Written is how many bytes were.
func (a *Answer) Written() int64 { return a.bytes.Load() }

// Duplex lets the body be read while the answer is written.
func (a *Answer) Duplex() { _ = a.control.EnableFullDuplex() }

// Linger makes the connection end with this answer, rather than read a body that nobody
// wants, and end late enough that a client that is still sending sees the answer. net/http
// does so for whoever reads beyond a limit, and knows no other way to ask for it. A writer
// of somebody else's is only told to close.
func (a *Answer) Linger() {
	a.Header().Set("Connection", "close")
	limited := http.MaxBytesReader(a.ResponseWriter, io.NopCloser(strings.NewReader("beyond")), 0)
	_, _ = limited.Read(make([]byte, 1))
}

// BreakOff ends an answer that has begun, but not as it should end, so that the client sees that,
// and gets all that was written. Then what the client still sends is read and dropped, until it
// closes the connection, and at most for the idle limit: closed at once, with bytes that nobody
// has read, the connection would be reset, and what the client had not read by then be lost (RFC
// 9112, 9.6).
//
// The body must be closed before, and the handler panics with [http.ErrAbortHandler] afterwards. A
// writer without a connection of its own, as in HTTP/2, is left as it is.
func (a *Answer) BreakOff() {
	if a.unread || a.Flush() != nil {
		return
	}
	conn, _, err := a.control.Hijack()
	if err != nil {
		return
	}
	defer conn.Close()

	half, ok := conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	_ = conn.SetReadDeadline(time.Now().Add(a.idle))
	_, _ = io.Copy(io.Discard, conn)
}
