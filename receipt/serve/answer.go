package serve

import (
	"net/http"
	"sync/atomic"
	"time"
)

// An answer writes a response within the idle limit and remembers what it was.
type answer struct {
	http.ResponseWriter
	control *http.ResponseController
	idle    time.Duration
	status  int // 0: nothing was written
	bytes   atomic.Int64
}

func newAnswer(w http.ResponseWriter, idle time.Duration) *answer {
	a := &answer{ResponseWriter: w, control: http.NewResponseController(w), idle: idle}
	a.extend()
	return a
}

// extend gives the client time to read on. A writer without deadlines, as in
// tests, has none.
func (a *answer) extend() { _ = a.control.SetWriteDeadline(time.Now().Add(a.idle)) }

// WriteHeader remembers the status.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK { // not 1xx
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// writePiece is how many bytes a client has to read within the idle limit.
const writePiece = 64 << 10

// Write writes to a client that reads, without a copy however much it is.
func (a *answer) Write(p []byte) (int, error) {
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
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// flush sends what was written.
func (a *answer) flush() error {
	a.extend()
	return a.control.Flush()
}
