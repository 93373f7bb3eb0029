package conn

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// ErrClosed is returned if a body is read after its request was answered.
var ErrClosed = errors.New("conn: the request has been answered")

// A Body is the body of a request. Each read of it has to make progress within the
// idle limit, and all of them end when the request is answered.
type Body struct {
	from    io.Reader
	control *http.ResponseController
	idle    time.Duration
	until   time.Time // when the entire body must have arrived; zero: any time
	count   atomic.Int64

	reading sync.Mutex // held during a read

	mu     sync.Mutex // of the next fields, and of the deadline
	closed bool
	ended  bool
	err    error // of the last read, except io.EOF
}

// NewBody returns the body of a request. Each read of it must make progress within idle.
func NewBody(r *http.Request, a *Answer, idle time.Duration) *Body {
	b := &Body{from: r.Body, control: a.control, idle: idle}
	if _, read := r.Body.(whole); read {
		b.ended = true
		return b
	}

	// An outer handler may have wrapped an absent body.
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		b.from, b.ended = http.NoBody, true
		return b
	}

	// The deadline also applies if net/http reads the rest of the body.
	_ = a.control.SetReadDeadline(time.Now().Add(idle))
	return b
}

// Whole returns the body of a request for a handler below, after all of it was read. No deadline is
// set for reading it, because net/http is then already waiting on the connection for the next
// request, and would treat the deadline as a client that disconnected, for all later requests, too.
func Whole(data []byte) io.ReadCloser { return whole{bytes.NewReader(data)} }

// A whole body is in memory.
type whole struct{ *bytes.Reader }

// Close does nothing.
func (whole) Close() error { return nil }

// Until sets the time when the entire body must have arrived. It is called before the first Read.
func (b *Body) Until(t time.Time) { b.until = t }

// Received returns the number of bytes that have arrived.
func (b *Body) Received() int64 { return b.count.Load() }

// Read reads the client's data.
func (b *Body) Read(p []byte) (int, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	if !b.begin() {
		return 0, ErrClosed
	}

	// mu is not held, because a read lasts as long as the client sends nothing.
	n, err := b.from.Read(p)
	b.count.Add(int64(n))

	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err == io.EOF:
		b.ended = true
		if !b.closed { // otherwise, a deadline of this read would end the answer
			_ = b.control.SetReadDeadline(time.Time{})
		}
	case err != nil:
		b.err = err
	}

	return n, err
}

// begin sets the deadline of a read, unless the body is closed.
func (b *Body) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	if b.ended {
		return true
	}

	deadline := time.Now().Add(b.idle)
	if !b.until.IsZero() && b.until.Before(deadline) {
		deadline = b.until
	}
	_ = b.control.SetReadDeadline(deadline) // a writer of a test has none
	return true
}

// Close unblocks a pending Read and waits for it to return, so that nothing uses the connection
// after the request has been answered.
func (b *Body) Close() {
	b.mu.Lock()
	b.closed = true
	if !b.ended {
		_ = b.control.SetReadDeadline(time.Unix(1, 0))
	}
	b.mu.Unlock()

	// A pending read has ended when this lock is held.
	b.reading.Lock()
	defer b.reading.Unlock()
}

// Failure returns the error of the last read.
func (b *Body) Failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// AtEnd reports whether the entire body has been read.
func (b *Body) AtEnd() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended
}
