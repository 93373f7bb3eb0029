package protocol

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"runtime/debug"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/conn"
)

// An exchange is one request and its response.
type exchange struct {
	mux     *Mux
	w       *conn.Answer
	r       *Request
	body    *conn.Body
	intake  *intake
	started time.Time
	held    int64  // number of response bytes that are charged to [Limits].Memory
	place   func() // releases the request slot
	keyed   bool   // the route requires an API key

	answered func(Outcome)
}

func newExchange(m *Mux, w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{mux: m, w: conn.NewAnswer(w, m.limits.Idle), started: time.Now(), place: func() {}, answered: m.options.Observe()}
	x.r = &Request{Request: r, ID: m.ids.next(), Client: new(Client), exchange: x}
	if m.options.Public {
		x.r.Client = anyone()
	}
	x.body = conn.NewBody(r, x.w, m.limits.Idle)
	return x
}

// answer applies the checks in the order that [Mux] documents.
func (x *exchange) answer() error {
	h, r := x.w.Header(), x.r

	// These headers are part of every response, including errors.
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if ambiguous(r.Request) {
		h.Set("Connection", "close")
	}
	if err := cmp.Or(checkFraming(r.Request), x.mux.hosts.check(r.Request), checkForm(r.Request)); err != nil {
		return err
	}

	found := x.mux.find(r.Method, r.URL.EscapedPath())
	if err := x.admit(found); err != nil {
		return err
	}

	// A route that the client may not use is treated as absent.
	switch {
	case found.route == nil && len(found.allowed) > 0:
		return methodNotAllowed(found.allowed...)
	case found.route == nil || !r.Client.permits(found.route.Scope):
		return NotFound()
	}

	r.Route = found.route.path
	if found.route.placed() {
		give, err := x.take(x.mux.requests, "the server is busy")
		if err != nil {
			return err
		}
		x.place = give
	}
	return x.serve(found)
}

// admit checks the version and identifies the client.
func (x *exchange) admit(found match) error {
	if found.version {
		if err := checkVersion(x.r.Header); err != nil {
			return err
		}
	}

	// On an open route, the client is not identified.
	if x.keyed = found.key; !x.keyed {
		return nil
	}

	client, err := x.identify()
	if err != nil {
		return err
	}

	// Connections that have presented a key are among the last to be closed.
	x.r.Client, x.r.Use.Actor = client, client.Actor
	if !x.mux.options.Public {
		conn.ShowedKey(x.r.Context())
	}
	return nil
}

// identify returns the client that sent the request.
func (x *exchange) identify() (*Client, error) {
	if x.mux.options.Public {
		return anyone(), nil
	}
	client, err := x.mux.options.Auth.Authenticate(x.r.Request)
	if err == nil && client == nil {
		err = unauthorized("expected valid credentials")
	}
	if err != nil {
		return nil, err
	}
	return client, nil
}

// admitted reports whether the request would still be admitted, for the same client with the same
// permissions.
func (x *exchange) admitted() bool {
	if !x.keyed {
		return true
	}
	client, err := x.identify()
	return err == nil && reflect.DeepEqual(client, x.r.Client)
}

// take acquires one of the slots that all clients share. The caller releases the slot by calling
// give.
func (x *exchange) take(s *conn.Shares, full string) (give func(), err error) {
	client := x.r.Client.Share(x.r.Request)
	if !s.Take(client, 1) {
		return nil, Busy(1, full)
	}
	return func() { s.Give(client, 1) }, nil
}

// hold reserves memory for n bytes of the response until the end of the exchange.
func (x *exchange) hold(n int64) error {
	n = min(n, x.mux.limits.Memory-x.held) // a single response may use all of the memory

	if !x.mux.held.Take(x.r.Client.Share(x.r.Request), n) {
		return Busy(1, "the answers to other requests take all the memory that there is for them")
	}
	x.held += n
	return nil
}

// takePage reserves memory for a page of a stream. The page is charged in the same way as a
// response.
func (x *exchange) takePage(n int64) (give func()) {
	client, n := x.r.Client.Share(x.r.Request), min(n, x.mux.limits.Memory)
	if n > 0 && !x.mux.held.Take(client, n) {
		return nil
	}
	return func() {
		if n > 0 {
			x.mux.held.Give(client, n)
		}
	}
}

// serve reads the query and the body that a route accepts, and calls the handler.
func (x *exchange) serve(found match) (err error) {
	r, route := x.r, found.route
	for i, name := range namesOf(route.path) {
		r.SetPathValue(name, found.vars[i])
	}

	// The query is checked before the body, because checking the query is cheap.
	if route.readsQuery() {
		if r.Query, err = parseQuery(r.URL.RawQuery, route.Params); err != nil {
			return err
		}
	}

	if err := x.readBody(route); err != nil {
		return err
	}

	if route.Again || route.Body == BodyStream || !writes(r.Method) {
		return route.Serve(counted{x.w, x}, r)
	}
	return once(x, route.Serve)
}

// readBody reads the body, up to the limit of the route.
func (x *exchange) readBody(route *servedRoute) error {
	r := x.r
	switch {
	case route.Body == BodyStream:
		// A handler must be able to detect that a request has no body. Otherwise, it would set a
		// read deadline for a body that never arrives. At that time, net/http is already waiting
		// for the next request on the connection. It would treat the expired deadline as a
		// disconnect for all later requests on the connection.
		if !x.body.AtEnd() {
			r.Body = io.NopCloser(x.body)
		}
		return nil
	case !brings(r.Method):
		return nil
	}

	// Only a body that the handler streams may be compressed.
	if _, err := ContentEncoding(r.Request); err != nil {
		return err
	}

	data, err := x.read(cmp.Or(route.Limit, x.mux.limits.Body), "")
	if err != nil {
		return err
	}
	r.Body, r.Use.Body = conn.Whole(data), canon.Sum(data)

	switch route.Body {
	case BodyBytes:
		r.Bytes = data
		return peekJSON(r, data, x.intake.hold)
	case BodyText:
		r.Bytes = data
		return checkText(r, data, x.intake.hold)
	}
	return readJSON(r, data, route.Body == BodyOptional, x.intake.hold)
}

// read reads the body into memory from the shared pool, which is released at the end of the
// exchange.
func (x *exchange) read(limit int64, instead string) ([]byte, error) {
	x.body.Until(x.started.Add(x.mux.limits.Arrive)) // the idle limit applies to each read
	if x.intake == nil {                             // a second intake would leave the memory of the first intake reserved
		x.intake = &intake{body: x.body, memory: x.mux.held, client: x.r.Client.Share(x.r.Request), stated: x.r.ContentLength}
	}
	return x.intake.read(limit, instead)
}

// refuse sends an error envelope as the response. If a response has already begun, that response is
// aborted instead.
func (x *exchange) refuse(err error) {
	e := errorOf(err)
	if errors.Is(err, context.Canceled) && x.r.Context().Err() != nil {
		e = ClientClosed(err)
	}

	x.logMistake(e)
	if x.w.Status() != 0 {
		panic(http.ErrAbortHandler)
	}

	// The rest of the body must not be parsed as the next request.
	if !x.body.AtEnd() {
		x.w.Linger()
	}
	_ = writeError(x.w, e, x.r.ID) // writing fails if the client has disconnected
}

// logMistake logs server errors, except for routine conditions such as saturation.
func (x *exchange) logMistake(e *Error) {
	if status := e.status(); status == http.StatusInternalServerError || status > http.StatusInternalServerError && e.Cause != nil {
		x.mux.options.Log.Error("request failed", "request", x.r.ID, "route", cmp.Or(x.r.Route, "none"), "error", logged(e.Error()))
	}
}

// end releases the resources of the exchange. After a panic, it sends an error response, unless the
// response has already begun. The stack trace is only logged.
func (x *exchange) end() {
	p := recover()
	aborted := p == http.ErrAbortHandler
	if p != nil && !aborted {
		x.logPanic(p)
		if aborted = x.w.Status() != 0; !aborted {
			x.refuse(mistake())
		}
	}

	// The body is closed first, so that nothing uses the connection after the response is complete.
	x.body.Close()
	if x.intake != nil {
		x.intake.close()
	}
	if aborted && x.w.Status() != 0 {
		x.w.BreakOff()
	}
	if x.held > 0 {
		x.mux.held.Give(x.r.Client.Share(x.r.Request), x.held)
	}
	x.place()
	x.answered(Outcome{Request: x.r, Status: x.w.Status(), Bytes: x.w.Written(), Took: time.Since(x.started), Aborted: aborted})
	if aborted {
		panic(http.ErrAbortHandler)
	}
}

func (x *exchange) logPanic(p any) {
	x.mux.options.Log.Error("panic", "request", x.r.ID, "route", cmp.Or(x.r.Route, "none"), "panic", logged(fmt.Sprint(p)), "stack", string(debug.Stack()))
}

// mistake returns the error that is sent to the client after a panic.
func mistake() *Error {
	return Internal(errors.New("the handler panicked"), "internal error; the log has details under this request ID")
}
