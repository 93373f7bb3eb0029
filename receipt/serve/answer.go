package serve

import (
	"net/http"
	"time"
)

// An answer writes a response within the idle limit and remembers what it was.
type answer struct {
	http.ResponseWriter
	control *http.ResponseController
	idle    time.Duration
	status  int // 0: nothing was written
	bytes   int64
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

// Write writes to a client that reads.
func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	a.extend()
	n, err := a.ResponseWriter.Write(p)
	a.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// flush sends what was written.
func (a *answer) flush() error {
	a.extend()
	return a.control.Flush()
}
