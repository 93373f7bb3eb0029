package protocol

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/conn"
)

// A Request is the request that a Handler answers.
type Request struct {
	*http.Request

	ID     string          // of the request; errors and the log name it
	Route  string          // the path of its route's pattern; "" if it was refused before
	Client *Client         // the sender, which must not be changed; the zero client on an open route
	Query  Query           // its parameters, each there once and known; nil below a /
	JSON   *canon.Document // the body, an object; nil: the route takes none
	Bytes  []byte          // the body, on a route with BodyText or BodyBytes

	// Use is what a [Memory] remembers of the request. Its Key is the same for the requests of one
	// client for one target with one Idempotency-Key; zero: the request has no key, or the route may
	// be done again. A harness can record it in its log with the work, and pass it to the Memory
	// after a restart.
	Use Use

	exchange *exchange
}

// Hold reserves n bytes of [Limits].Memory for the answer, until the client has read it. A handler
// whose answer is longer than its request calls Hold before it changes anything. The error is an
// *[Error] with the status 503.
func (r *Request) Hold(n int64) error { return r.exchange.hold(n) }

// Conn returns the body and the answer on the connection, for a handler that streams. Data that is
// written to the answer is not reduced to what the client may see, and is not counted; a handler
// that holds a long answer calls Hold.
func (r *Request) Conn() (*conn.Body, *conn.Answer) { return r.exchange.body, r.exchange.w }

// ReadBody reads a body of at most limit bytes, on a route with [BodyStream], into the memory that
// all requests share. The end of the request releases it. The error is an *[Error]: 413 with
// instead, which states what may be sent in its place, 400, 503, or 504.
func (r *Request) ReadBody(limit int64, instead string) ([]byte, error) {
	return r.exchange.read(limit, instead)
}

// Saturated reports whether no place among the requests is left.
func (r *Request) Saturated() bool { return !r.exchange.mux.requests.Any() }

// workspace returns the workspace that the request names: the member workspace_id of its body or
// otherwise the parameter of that name, or "".
func (r *Request) workspace() string {
	const name = "workspace_id"
	if r.JSON != nil {
		if member := r.JSON.Root().Member(name); member.Kind() == canon.KindString {
			return member.String()
		}
	}
	return r.Query[name]
}

// Target returns the target of the request in one spelling: the path, with its segments escaped
// uniformly, and the query in the order of its names, without the named parameters.
func (r *Request) Target(without ...string) string {
	// An escaped letter and the letter itself are the same target.
	segments := strings.Split(r.URL.EscapedPath(), "/")
	for i, segment := range segments {
		if text, err := url.PathUnescape(segment); err == nil {
			segments[i] = url.PathEscape(text)
		}
	}
	target := strings.Join(segments, "/")

	// On a route that ends in /, the handler reads its own query. All of a malformed query counts.
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

// detached returns the request for a handler that completes its work even if the client
// disconnects.
func (r *Request) detached() *Request {
	other := *r
	other.Request = r.WithContext(context.WithoutCancel(r.Context()))
	return &other
}

// writes reports whether a method may change something.
func writes(method string) bool {
	switch method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return false
}

// brings reports whether requests with a method have a body.
func brings(method string) bool { return writes(method) && method != http.MethodDelete }
