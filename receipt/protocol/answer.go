package protocol

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"strconv"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol/conn"
)

// WriteJSON answers with a value on one line, its strings escaped where a terminal might
// obey them ([receipt.AppendJSON]).
func WriteJSON(w http.ResponseWriter, status int, v any) error {
	text, err := receipt.AppendJSON(nil, v)
	if err != nil {
		return Internal(err, "the answer could not be written")
	}
	return Write(w, status, MediaJSON, append(text, '\n'))
}

// Write answers with a body of a media type: of JSON, what the client may see ([Client.Visible]).
// The error is an *[Error] that says that there is no memory for the body until others have read
// theirs ([Limits].Memory): then nothing was written.
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
	_, _ = w.Write(body) // a client that does not read it is gone
	return nil
}

// writeError answers with the envelope of an error.
func writeError(w http.ResponseWriter, e *Error, requestID string) error {
	maps.Copy(w.Header(), e.Header)
	text, err := receipt.AppendJSON(nil, e.Envelope(requestID))
	if err != nil {
		return Internal(err, "the answer could not be written")
	}
	if c, ok := w.(counted); ok { // an error is told whatever others hold
		w = c.Answer
	}
	return Write(w, e.HTTPStatus(), MediaJSON, append(text, '\n'))
}

// A counted answer is held in memory that all answers share.
type counted struct {
	*conn.Answer
	exchange *exchange
}

// allow returns what the client may see of a body that is about to be written, and takes memory for
// it. After a request that changes something there is no way back: its answer is as long as what it
// brought, which is counted already.
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
