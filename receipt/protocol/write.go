package protocol

import (
	"maps"
	"net/http"
	"strconv"

	"github.com/receiptkit/receiptkit/receipt"
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
