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

// ErrClosed is returned by reads of a body whose request has already been answered.
var ErrClosed = errors.New("conn: the request has been answered")

// A Body is a request body whose reads are limited in time. Each read must make progress within the
// idle limit, and all reads end when the request is answered.
type Body struct {
	from    io.Reader
	control *http.ResponseController
	idle    time.Duration
	until   time.Time // deadline for the entire body; zero means no deadline
	count   atomic.Int64

	reading sync.Mutex // held during a read

	mu     sync.Mutex // guards the fields below and the deadline
	closed bool
	ended  bool
	err    error // error of the last read, except io.EOF
}

// NewBody returns the body of the request r. Each read of the body must make progress within idle.
func NewBody(r *http.Request, a *Answer, idle time.Duration) *Body {
	b := &Body{from: r.Body, control: a.control, idle: idle}
	if _, read := r.Body.(whole); read {
		b.ended = true
		return b
	}

	// An outer handler may have wrapped http.NoBody, so the length is checked, too.
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		b.from, b.ended = http.NoBody, true
		return b
	}

	// The deadline also applies if net/http reads the rest of the body.
	_ = a.control.SetReadDeadline(time.Now().Add(idle))
	return b
}

// Whole returns a request body for an inner handler, after an outer handler has read the entire
// body. Reads of that body have no deadline: net/http is already waiting on the connection for the
// next request, and would treat an expired deadline as a disconnected client, for this and all
// later requests.
func Whole(data []byte) io.ReadCloser { return whole{bytes.NewReader(data)} }

// A whole is a request body that is completely in memory.
type whole struct{ *bytes.Reader }

// Close does nothing.
func (whole) Close() error { return nil }

// Until sets the time by which the entire body must have arrived. Call it before the first Read.
func (b *Body) Until(t time.Time) { b.until = t }

// Received returns the number of bytes that have arrived.
func (b *Body) Received() int64 { return b.count.Load() }

// Read reads data from the client.
func (b *Body) Read(p []byte) (int, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	if !b.begin() {
		return 0, ErrClosed
	}

	// mu is not held during the read, because a read blocks until the client sends data.
	n, err := b.from.Read(p)
	b.count.Add(int64(n))

	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err == io.EOF:
		b.ended = true
		if !b.closed { // without the reset, the deadline of this read would end the response
			_ = b.control.SetReadDeadline(time.Time{})
		}
	case err != nil:
		b.err = err
	}

	return n, err
}

// begin sets the deadline for a read, and reports whether the body can be read.
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
	_ = b.control.SetReadDeadline(deadline) // the writers in tests have no deadline
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

	// Once this lock is held, a pending read has ended.
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
