package protocol

import (
	"bytes"
	"errors"
	"net/http"
)

var errTooLong = errors.New("protocol: an answer to a request with an Idempotency-Key is longer than MaxAnswer")

// A recorder is the ResponseWriter of an answer that is remembered.
type recorder struct {
	header  http.Header
	sent    http.Header // as it was when the status was written
	status  int         // 0: nothing was written
	body    bytes.Buffer
	tooLong bool
	logged  func() bool // the answer is kept elsewhere, however long it is
}

// Header returns what is sent with the status.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader remembers the first status that is not informational.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= http.StatusOK {
		r.status, r.sent = status, r.header.Clone()
	}
}

// Write remembers a piece of the body.
func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if r.tooLong = r.tooLong || r.body.Len()+len(p) > MaxAnswer && !r.logged(); r.tooLong {
		return 0, errTooLong
	}
	return r.body.Write(p)
}

// answer is what was written; nothing is 200, as everywhere in net/http.
func (r *recorder) answer() *Answer {
	r.WriteHeader(http.StatusOK)
	return &Answer{Status: r.status, Header: r.sent, Body: r.body.Bytes()}
}

// refuse forgets what was written, for an error.
func (r *recorder) refuse(e *Error, requestID string) *Answer {
	*r = recorder{header: http.Header{}, logged: r.logged}
	_ = writeError(r, e, requestID) // into memory
	return r.answer()
}
