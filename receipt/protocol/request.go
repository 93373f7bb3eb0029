package protocol

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/conn"
)

// A Request is the request to which a Handler responds.
type Request struct {
	*http.Request

	ID     string          // ID of the request, which errors and the log contain
	Route  string          // the path of its route's pattern; "" if the request was refused earlier
	Client *Client         // the sender, which must not be changed; the zero client on an open route
	Query  Query           // its parameters, each known and present only once; nil below a /
	JSON   *canon.Document // the body, an object; nil if the route accepts none
	Bytes  []byte          // the body, on a route with BodyText or BodyBytes

	// Use is the information about the request that a [Memory] remembers. Its Key is equal for all
	// requests of one client for one target with the same Idempotency-Key. It is zero if the
	// request has no key, or if the route may be processed again. A harness can record it in its
	// log with the work, and pass it to the Memory after a restart.
	Use Use

	exchange *exchange
}

// Hold reserves n bytes of [Limits].Memory for the response, until the client has read it. A
// handler whose response is longer than its request calls Hold before it changes anything. The
// error is an *[Error] with the status 503.
func (r *Request) Hold(n int64) error { return r.exchange.hold(n) }

// Conn returns the body and the response on the connection, for a handler that streams. Data
// written to this response is not reduced to the part that the client may see, and is not counted;
// a handler that holds a long response calls Hold.
func (r *Request) Conn() (*conn.Body, *conn.Answer) { return r.exchange.body, r.exchange.w }

// ReadBody reads a body of at most limit bytes, on a route with [BodyStream], into the memory that
// all requests share. The end of the request releases it. The error is an *[Error]: 413 with
// instead, which describes the alternative, 400, 503, or 504.
func (r *Request) ReadBody(limit int64, instead string) ([]byte, error) {
	return r.exchange.read(limit, instead)
}

// Saturated reports whether all request slots are in use.
func (r *Request) Saturated() bool { return !r.exchange.mux.requests.Any() }

// workspace returns the workspace that the request names, in the member workspace_id of its body or
// else in the parameter of that name, or "".
func (r *Request) workspace() string {
	const name = "workspace_id"
	if r.JSON != nil {
		if member := r.JSON.Root().Member(name); member.Kind() == canon.KindString {
			return member.String()
		}
	}
	return r.Query[name]
}

// Target returns the target of the request in a single spelling: the path with uniformly escaped
// segments, and the query in the order of its names, without the named parameters.
func (r *Request) Target(without ...string) string {
	// An escaped letter and the unescaped letter are the same target.
	segments := strings.Split(r.URL.EscapedPath(), "/")
	for i, segment := range segments {
		if text, err := url.PathUnescape(segment); err == nil {
			segments[i] = url.PathEscape(text)
		}
	}
	target := strings.Join(segments, "/")

	// On a route that ends in /, the handler parses its own query. A malformed query is included
	// completely.
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

// writes reports whether a method may have side effects.
func writes(method string) bool {
	switch method {
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return true
	}
	return false
}

// brings reports whether requests with a method have a body.
func brings(method string) bool { return writes(method) && method != http.MethodDelete }
