package protocol

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/conn"
)

// A Request is the request that a Handler responds to.
type Request struct {
	*http.Request

	ID     string          // ID of the request, which is included in errors and log records
	Route  string          // path in the pattern of the route; "" if the request was refused before a route was found
	Client *Client         // the sender of the request, which must not be modified; the zero Client on an open route
	Query  Query           // query parameters, each of which is known and occurs once; nil for a route with AnyQuery or a path that ends in /
	JSON   *canon.Document // the body, which is an object; nil if the route accepts no JSON body
	Bytes  []byte          // the body, for a route with BodyText or BodyBytes

	// Use contains the information about the request that a [Memory] remembers. Its Key is the same
	// for all requests with the same Idempotency-Key from one client to one target. It is zero if
	// the request has no Idempotency-Key, or if the route allows a request to be processed again. A
	// harness can record it in its log together with the work, and pass it to the Memory after a
	// restart.
	Use Use

	exchange *exchange
}

// Hold reserves n bytes of [Limits].Memory for the response, until the client has read the
// response. A handler whose response is longer than the request must call Hold before it changes
// anything. The error is an *[Error] with status 503.
func (r *Request) Hold(n int64) error { return r.exchange.hold(n) }

// Conn returns the body and the response of the underlying connection, for a handler that streams.
// Data that is written to this response is not reduced to the part that the client may see. The
// data is not counted either, so a handler with a long response calls Hold.
func (r *Request) Conn() (*conn.Body, *conn.Answer) { return r.exchange.body, r.exchange.w }

// ReadBody reads a body of at most limit bytes into memory from the shared pool, for a route with
// [BodyStream]. The memory is released at the end of the request. The error is an *[Error] with
// status 400, 413, 503, or 504. The message of a 413 error includes the argument instead, which
// describes the alternative.
func (r *Request) ReadBody(limit int64, instead string) ([]byte, error) {
	return r.exchange.read(limit, instead)
}

// Saturated reports whether all request slots are in use.
func (r *Request) Saturated() bool { return !r.exchange.mux.requests.Any() }

// workspace returns the workspace ID in the member workspace_id of the body or, if there is none,
// in the query parameter of that name. If both are absent, it returns "".
func (r *Request) workspace() string {
	const name = "workspace_id"
	if r.JSON != nil {
		if member := r.JSON.Root().Member(name); member.Kind() == canon.KindString {
			return member.String()
		}
	}
	return r.Query[name]
}

// Target returns the target of the request in a normalized form. It consists of the path with
// uniformly escaped segments, and of the query sorted by parameter name, without the given
// parameters.
func (r *Request) Target(without ...string) string {
	// An escaped letter is equivalent to the unescaped letter.
	segments := strings.Split(r.URL.EscapedPath(), "/")
	for i, segment := range segments {
		if text, err := url.PathUnescape(segment); err == nil {
			segments[i] = url.PathEscape(text)
		}
	}
	target := strings.Join(segments, "/")

	// On a route that ends in /, the handler parses the query itself. A malformed query is included
	// unchanged.
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return target + "?" + r.URL.RawQuery
	}

	for _, name := range without {
		values.Del(name)
	}
	if len(values) > 0 {
		target += "?" + values.Encode()
	}
	return target
}

// detached returns the request with a context that is not canceled when the client disconnects.
func (r *Request) detached() *Request {
	other := *r
	other.Request = r.WithContext(context.WithoutCancel(r.Context()))
	return &other
}

// writes reports whether requests with the given method may have side effects.
func writes(method string) bool {
	switch method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return false
}

// brings reports whether requests with the given method have a body.
func brings(method string) bool { return writes(method) && method != http.MethodDelete }
