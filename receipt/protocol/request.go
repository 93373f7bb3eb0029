package protocol

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/protocol/conn"
)

// A Request is what a Handler answers.
type Request struct {
	*http.Request

	ID     string          // of the request; errors and the log name it
	Route  string          // the path of its route's pattern; "" if it was refused before
	Client *Client         // the sender, which must not be changed; nobody on an open route
	Query  Query           // its parameters, each there once and known; nil below a /
	JSON   *canon.Document // the body, an object; nil: the route takes none
	Bytes  []byte          // the body, on a route with BodyText or BodyBytes

	// Once is the same for requests of which one may be done: those of one client for one
	// target with one Idempotency-Key ([onceOf]). Zero: the request has no key, or the route
	// may be done again.
	Once canon.Digest

	// Asked is the digest of the canonical body; zero: there is none. With both, and the
	// Actor of its client, a harness can write into its log that this was done, and tell a [Memory] of it
	// after a restart.
	Asked canon.Digest

	exchange *exchange
}

// Use is what a [Memory] remembers the request by. Its Key is zero when the request may be
// done again.
func (r *Request) Use() Use { return Use{Actor: r.Client.Actor, Key: r.Once, Body: r.Asked} }

// Hold takes memory for n bytes of the answer until it was read, of [Limits].Memory. A handler
// whose answer is longer than the body that it takes asks for it before it changes anything. The
// error is an *[Error], 503.
func (r *Request) Hold(n int64) error { return r.exchange.hold(n) }

// Conn returns the body and the answer on the connection, for a handler that streams. Nothing that is
// written to the answer is reduced to what the client may see, and none of it is counted: a handler
// that holds a long one calls Hold.
func (r *Request) Conn() (*conn.Body, *conn.Answer) { return r.exchange.body, r.exchange.w }

// ReadBody reads a body of at most limit bytes, on a route with [BodyStream], into memory that all
// requests share, which the end of the request gives back. The error is an *[Error]: 413 with a word on
// what may be sent instead, 400, 503, or 504.
func (r *Request) ReadBody(limit int64, instead string) ([]byte, error) {
	return r.exchange.read(limit, instead)
}

// Saturated reports whether no place among the requests is left.
func (r *Request) Saturated() bool { return !r.exchange.mux.requests.any() }

// Workspace is what the request says that it is of: the member workspace_id of its body, or
// else that parameter; "" when it says none.
func (r *Request) Workspace() string {
	const name = "workspace_id"
	if r.JSON != nil {
		if member := r.JSON.Root().Member(name); member.Kind() == canon.KindString {
			return member.String()
		}
	}
	return r.Query[name]
}

// Text reads a member of the body that is a string; "" when it is not there, or null.
func (r *Request) Text(name string) (string, error) {
	switch member := r.JSON.Root().Member(name); member.Kind() {
	case canon.KindInvalid, canon.KindNull:
		return "", nil
	case canon.KindString:
		return member.String(), nil
	}
	return "", Invalid(name, "expected a string")
}

// RequiredText reads a member of the body that has to be a string, and not an empty one.
func (r *Request) RequiredText(name string) (string, error) {
	text, err := r.Text(name)
	if err == nil && text == "" {
		err = Invalid(name, "expected a string that is not empty")
	}
	return text, err
}

// Object reads a member of the body that is an object, as its text; nil when it is not there,
// or null.
func (r *Request) Object(name string) (json.RawMessage, error) {
	switch member := r.JSON.Root().Member(name); member.Kind() {
	case canon.KindInvalid, canon.KindNull:
		return nil, nil
	case canon.KindObject:
		return member.Raw(), nil
	}
	return nil, Invalid(name, "expected an object")
}

// target is what the request names, in one spelling: the path, its segments escaped in one
// way, and the query in the order of its names, without what says how much of it is wanted.
func (r *Request) target(without ...string) string {
	segments := strings.Split(r.URL.EscapedPath(), "/")
	for i, segment := range segments {
		if text, err := url.PathUnescape(segment); err == nil {
			segments[i] = url.PathEscape(text)
		}
	}
	target := strings.Join(segments, "/")

	// Below a / a handler reads its own query: of one that is malformed all of it counts.
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

// detached is the request for a handler that ends what it has begun, also when the client
// leaves meanwhile.
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

// brings reports whether a method brings a body.
func brings(method string) bool { return writes(method) && method != http.MethodDelete }
