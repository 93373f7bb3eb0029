package main

import (
	"bytes"
	"maps"
	"net/http"

	"github.com/receiptkit/receiptkit/receipt"
)

// An answer is what a handler answers, before it is sent: the receipt comes first.
type answer struct {
	header  http.Header
	status  int
	begun   bool
	body    bytes.Buffer
	receipt *receipt.Sealed // nil: there is none
}

func newAnswer() *answer { return &answer{header: http.Header{}, status: http.StatusOK} }

// Header is sent with the status.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader keeps the first status.
func (a *answer) WriteHeader(status int) {
	if !a.begun && status >= http.StatusOK {
		a.begun, a.status = true, status
	}
}

// Write keeps a part of the body.
func (a *answer) Write(p []byte) (int, error) {
	a.begun = true
	return a.body.Write(p)
}

// word says how it went, as events do.
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
	_, _ = w.Write(a.body.Bytes()) // whoever does not read it is gone
}
