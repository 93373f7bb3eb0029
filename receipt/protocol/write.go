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
	Write(w, status, MediaJSON, append(text, '\n'))
	return nil
}

// Write answers with a body of a media type. Whoever does not read it is gone.
func Write(w http.ResponseWriter, status int, media string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// writeError answers with the envelope of an error.
func writeError(w http.ResponseWriter, e *Error, requestID string) error {
	maps.Copy(w.Header(), e.Header)
	return WriteJSON(w, e.HTTPStatus(), e.Envelope(requestID))
}
