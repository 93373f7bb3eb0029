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
	unread  bool // a write failed: the client has disconnected, or does not read
}

// NewAnswer returns an answer. The client must read each piece of it within idle.
func NewAnswer(w http.ResponseWriter, idle time.Duration) *Answer {
	a := &Answer{ResponseWriter: w, control: http.NewResponseController(w), idle: idle}
	a.extend()
	return a
}

// extend gives the client time to continue reading. A writer without deadlines, as in tests, has
// none.
func (a *Answer) extend() { _ = a.control.SetWriteDeadline(time.Now().Add(a.idle)) }

// WriteHeader records the status.
func (a *Answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK { // not 1xx
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// writePiece is how many bytes a client must read within the idle limit.
const writePiece = 64 << 10

// Write writes to a client that reads, without a copy, regardless of the length.
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

// Unwrap is for http.ResponseController.
func (a *Answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Flush sends the written data.
func (a *Answer) Flush() error {
	a.extend()
	return a.control.Flush()
}

// Status returns the written status, or 0.
func (a *Answer) Status() int { return a.status }

// Written returns the number of written bytes.
func (a *Answer) Written() int64 { return a.bytes.Load() }

// Duplex allows reading the body while the answer is written.
func (a *Answer) Duplex() { _ = a.control.EnableFullDuplex() }

// Linger closes the connection after this answer instead of reading an unwanted body, and late
// enough that a client that is still sending gets the answer. net/http does that for a body beyond
// a limit, and has no other way to request it. Other writers are only told to close.
func (a *Answer) Linger() {
	a.Header().Set("Connection", "close")
	limited := http.MaxBytesReader(a.ResponseWriter, io.NopCloser(strings.NewReader("beyond")), 0)
	_, _ = limited.Read(make([]byte, 1))
}

// BreakOff ends an answer that has begun in a way that shows the client that it is incomplete,
// after the client got everything that was written. Then the rest of the client's data is read and
// dropped until the client closes the connection, at most for the idle limit. If it were closed
// immediately, with unread bytes, the connection would be reset, and data that the client had not
// read yet would be lost (RFC 9112, 9.6).
//
// The body must be closed before, and the handler must panic with [http.ErrAbortHandler] afterward.
// A writer without its own connection, as in HTTP/2, is not changed.
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
