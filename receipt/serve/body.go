package serve

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

var errBodyClosed = errors.New("serve: the request has been answered")

// A body is the body of a request. Each read of it has to make progress within the
// idle limit, and all of them end when the request is answered.
type body struct {
	from    io.Reader
	control *http.ResponseController
	idle    time.Duration
	until   time.Time // when the whole body must be there; zero: whenever
	count   atomic.Int64

	reading sync.Mutex // held during a read

	mu     sync.Mutex // of what follows, and of the deadline
	closed bool
	ended  bool
	err    error // of the last read, but for io.EOF
}

// Read reads what the client has sent.
func (b *body) Read(p []byte) (int, error) {
	b.reading.Lock()
	defer b.reading.Unlock()
	if !b.begin() {
		return 0, errBodyClosed
	}

	// Without mu: a read lasts for as long as the client keeps silent.
	n, err := b.from.Read(p)
	b.count.Add(int64(n))

	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err == io.EOF:
		b.ended = true
		if !b.closed { // else a deadline of this read would end the answer
			_ = b.control.SetReadDeadline(time.Time{})
		}
	case err != nil:
		b.err = err
	}

	return n, err
}

// begin sets the deadline of a read, unless the body is closed.
func (b *body) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}

	deadline := time.Now().Add(b.idle)
	if !b.until.IsZero() && b.until.Before(deadline) {
		deadline = b.until
	}
	_ = b.control.SetReadDeadline(deadline) // a writer of a test has none
	return true
}

// close ends a read that waits, and waits for its end: nothing touches the
// connection when the request has been answered.
func (b *body) close() {
	b.mu.Lock()
	b.closed = true
	if !b.ended {
		_ = b.control.SetReadDeadline(time.Unix(1, 0))
	}
	b.mu.Unlock()

	// A read that was under way has ended when this lock is held.
	b.reading.Lock()
	defer b.reading.Unlock()
}

// failure is the error of the last read.
func (b *body) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// read reports whether the whole body has been read.
func (b *body) read() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended
}
