package serve

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/receipt"
)

// ServeHTTP answers the two routes below /x/, to GET and HEAD.
func (p *Proofs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := p.process(r)
	media, status := mediaText, http.StatusOK
	if err != nil {
		text, media, status = refusal(w.Header(), err, requestIDOf(r.Context()))
	}

	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(text) // whoever does not read it is gone
}

// process returns what a request asks for. An id is looked up in the index and
// nowhere else.
func (p *Proofs) process(r *http.Request) ([]byte, error) {
	// The same router as the server has, so that paths and methods are read alike.
	checkpoint := route{method: http.MethodGet, pattern: "/x/checkpoint"}
	proof := route{method: http.MethodGet, pattern: "/x/receipts/{id}/proof"}
	table := router{[]route{checkpoint, proof}}
	m := table.find(r.Method, r.URL.EscapedPath())
	switch {
	case m.route == nil && len(m.allowed) > 0:
		return nil, notAllowed(m.allowed)
	case m.route == nil:
		return nil, notFound()
	}

	// Neither route has a parameter.
	if _, err := parseQuery(r.URL.RawQuery, nil); err != nil {
		return nil, err
	}
	if m.route.pattern == checkpoint.pattern {
		return p.note, nil
	}

	text, err := p.Proof(strings.Join(m.vars, ""))
	if errors.Is(err, ErrNotFound) {
		return nil, notFound()
	}

	return text, err
}

// refusal is the envelope of an error.
func refusal(h http.Header, err error, requestID string) (text []byte, media string, status int) {
	var f *fault
	if !errors.As(err, &f) {
		f = internal(err, "the proof could not be made")
	}
	for name, values := range f.header {
		h[name] = values
	}
	text, err = receipt.AppendJSON(nil, f.envelope(requestID))
	if err != nil { // of strings alone
		return nil, mediaJSON, http.StatusInternalServerError
	}
	return append(text, '\n'), mediaJSON, f.status
}

// requestIDKey is the place of a request's id in its context.
type requestIDKey struct{}

func withRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// requestIDOf returns the id that the server around this handler gave a request, ""
// without one.
func requestIDOf(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}
