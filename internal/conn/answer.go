package conn

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// An Answer writes a response within the idle limit, and records its status and length.
type Answer struct {
	http.ResponseWriter
	control *http.ResponseController
	idle    time.Duration
	status  int // 0: nothing was written
	bytes   atomic.Int64
	unread  bool // a write failed: the client has disconnected or is not reading
}

// NewAnswer returns an Answer that writes to w. The client must read each piece of the response
// within idle.
func NewAnswer(w http.ResponseWriter, idle time.Duration) *Answer {
	a := &Answer{ResponseWriter: w, control: http.NewResponseController(w), idle: idle}
	a.extend()
	return a
}

// extend restarts the idle limit, within which the client must continue reading. A writer that does
// not support deadlines, as in tests, has no limit.
func (a *Answer) extend() { _ = a.control.SetWriteDeadline(time.Now().Add(a.idle)) }

// WriteHeader records the status.
func (a *Answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK { // not 1xx
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// writePiece is the number of bytes that a client must read within the idle limit.
const writePiece = 64 << 10

// Write writes p, of any length, without copying it, as long as the client keeps reading.
func (a *Answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}

	// The idle limit applies to each piece separately.
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

// Unwrap returns the underlying writer for [http.ResponseController].
func (a *Answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Flush sends the data that has been written to the client.
func (a *Answer) Flush() error {
	a.extend()
	return a.control.Flush()
}

// Status returns the status that was written, or 0 if there is none yet.
func (a *Answer) Status() int { return a.status }

// Written returns the number of bytes written.
func (a *Answer) Written() int64 { return a.bytes.Load() }

// Duplex allows the handler to read the body while it writes the response.
func (a *Answer) Duplex() { _ = a.control.EnableFullDuplex() }

// Linger makes the server close the connection after this response instead of reading an unwanted
// body. The server delays the close, so that a client that is still sending receives the response.
// net/http does this only for a body that exceeds a limit, so Linger simulates such a body. For a
// writer that is not from net/http, Linger sets only the Connection header.
func (a *Answer) Linger() {
	a.Header().Set("Connection", "close")
	limited := http.MaxBytesReader(a.ResponseWriter, io.NopCloser(strings.NewReader("beyond")), 0)
	_, _ = limited.Read(make([]byte, 1))
}

// BreakOff ends an incomplete response so that the client receives everything that was written and
// can detect that the rest is missing. BreakOff then reads and drops the rest of the client's data
// until the client closes the connection, for at most the idle limit. Closing the connection
// immediately, with unread bytes, would reset it, and data that the client had not read yet would
// be lost (RFC 9112, 9.6).
//
// The caller must close the body before BreakOff, and the handler must panic with
// [http.ErrAbortHandler] afterward. If the response does not have a separate connection, as in
// HTTP/2, BreakOff only flushes it.
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
