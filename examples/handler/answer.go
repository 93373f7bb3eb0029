package main

import (
	"bytes"
	"maps"
	"net/http"

	"github.com/receiptkit/receiptkit/receipt"
)

// An answer holds the response of a handler until the receipt for the request is issued.
type answer struct {
	header  http.Header
	status  int
	begun   bool
	body    bytes.Buffer
	receipt *receipt.Sealed // nil if there is none
}

func newAnswer() *answer { return &answer{header: http.Header{}, status: http.StatusOK} }

// Header returns the header that is sent with the status.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader stores the first status.
func (a *answer) WriteHeader(status int) {
	if !a.begun && status >= http.StatusOK {
		a.begun, a.status = true, status
	}
}

// Write stores a part of the body.
func (a *answer) Write(p []byte) (int, error) {
	a.begun = true
	return a.body.Write(p)
}

// word returns the result in the vocabulary that events use.
func (a *answer) word() string {
	if a.status < http.StatusBadRequest {
		return "ok"
	}
	return "error"
}

func (a *answer) send(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	if a.receipt != nil {
		w.Header().Set("Receipt-Id", a.receipt.ID())
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes()) // an error means that the client has disconnected
}
