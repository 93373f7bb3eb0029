package protocol

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"strconv"

	"github.com/receiptkit/receiptkit/internal/conn"
	"github.com/receiptkit/receiptkit/receipt"
)

// WriteJSON writes v as the response, on a single line. It escapes characters in strings that a
// terminal might interpret (see [receipt.AppendJSON]).
func WriteJSON(w http.ResponseWriter, status int, v any) error {
	text, err := receipt.AppendJSON(nil, v)
	if err != nil {
		return Internal(err, "the answer could not be written")
	}
	return Write(w, status, MediaJSON, append(text, '\n'))
}

// Write writes a response whose body has the given media type. A JSON body is reduced to the parts
// that the client may see (see [Client.Visible]). The error is an *[Error], which means that no
// memory is available for the body until other clients have read their responses (see
// [Limits].Memory). In this case, nothing was written.
func Write(w http.ResponseWriter, status int, media string, body []byte) error {
	if c, ok := w.(counted); ok {
		var err error
		if body, err = c.allow(media, body); err != nil {
			return err
		}
	}
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that does not read the response is treated as disconnected
	return nil
}

// writeError writes an error envelope as the response.
func writeError(w http.ResponseWriter, e *Error, requestID string) error {
	maps.Copy(w.Header(), e.Header)
	text, err := receipt.AppendJSON(nil, e.Envelope(requestID))
	if err != nil {
		return Internal(err, "the answer could not be written")
	}
	if c, ok := w.(counted); ok { // an error response needs no memory from the shared pool
		w = c.Answer
	}
	return Write(w, e.status(), MediaJSON, append(text, '\n'))
}

// A counted response reserves part of the memory that all responses share.
type counted struct {
	*conn.Answer
	exchange *exchange
}

// allow returns the part of a body that the client may see, and reserves memory for it. Once a
// request has changed something, its response can no longer be refused. Such a response is about as
// long as the request, whose memory is already reserved.
func (c counted) allow(media string, body []byte) ([]byte, error) {
	x := c.exchange
	if media == MediaJSON {
		var err error
		if body, err = x.r.Client.Visible(body); err != nil {
			return nil, err
		}
	}
	if writes(x.r.Method) {
		return body, nil
	}
	return body, x.hold(int64(len(body)))
}

var errTooLong = errors.New("protocol: answer to a request with an Idempotency-Key is longer than maxAnswer")

// A recorder is a ResponseWriter for a response that may be remembered.
type recorder struct {
	header  http.Header
	sent    http.Header // a copy of the header from when the status was written
	status  int         // 0 if nothing was written
	body    bytes.Buffer
	tooLong bool
	logged  func() bool // reports whether a log keeps the response, regardless of its length
}

// Header returns the header that is sent with the status.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader records the first status that is not informational.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= http.StatusOK {
		r.status, r.sent = status, r.header.Clone()
	}
}

// Write records a piece of the body.
func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	if r.tooLong = r.tooLong || r.body.Len()+len(p) > maxAnswer && !r.logged(); r.tooLong {
		return 0, errTooLong
	}
	return r.body.Write(p)
}

// answer returns the recorded response. As in net/http, the default status is 200.
func (r *recorder) answer() *answer {
	r.WriteHeader(http.StatusOK)
	return &answer{status: r.status, header: r.sent, body: r.body.Bytes()}
}

// refuse replaces the recorded response with an error response.
func (r *recorder) refuse(e *Error, requestID string) *answer {
	*r = recorder{header: http.Header{}, logged: r.logged}
	_ = writeError(r, e, requestID) // into memory
	return r.answer()
}
