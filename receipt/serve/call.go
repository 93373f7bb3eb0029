package serve

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/protocol/conn"
	"github.com/receiptkit/receiptkit/receipt/protocol/fair"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A call is one request and its answer.
type call struct {
	s       *Server
	w       *conn.Answer
	r       *http.Request
	id      string
	started time.Time
	route   *route // nil: none, or not known yet
	vars    []string
	query   protocol.Query
	client  *protocol.Client // nobody before it is known, and on a route for everybody
	body    *conn.Body
	intake  *protocol.Intake // of the body; nil: it is not held
	after   []func()
}

func newCall(s *Server, w http.ResponseWriter, r *http.Request) *call {
	c := &call{s: s, w: conn.NewAnswer(w, s.limits.Idle), r: r, id: s.ids.Next(), started: time.Now(), client: new(protocol.Client)}
	if s.options.Public {
		c.client = protocol.Anyone()
	}
	c.body = conn.NewBody(r, c.w, s.limits.Idle)
	s.meters.inFlight.Inc()
	return c
}

// answer is the order of the checks: form, version, key, route, validation.
func (c *call) answer() error {
	h := c.w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if protocol.Ambiguous(c.r) {
		h.Set("Connection", "close")
	}
	if err := c.checkForm(); err != nil {
		return err
	}

	// What is protected asks for version and key before it says what there is.
	path := c.r.URL.EscapedPath()
	m := c.s.router.find(c.r.Method, path)
	inside := ofProtocol(path)
	if inside || m.route != nil && m.route.version {
		if err := protocol.CheckVersion(c.r.Header); err != nil {
			return err
		}
	}

	if inside || m.route != nil && m.route.key {
		if err := c.identify(); err != nil {
			return err
		}
	}

	switch {
	case m.route == nil && len(m.allowed) > 0:
		return notAllowed(m.allowed)
	case m.route == nil:
		return protocol.NotFound()
	}

	// A route that the key has no scope for is as if it were not there.
	if !c.client.Permits(m.route.scope) {
		return protocol.NotFound()
	}

	c.route, c.vars = m.route, m.vars
	if !m.route.free {
		if err := c.place(c.s.requests, "the server is busy"); err != nil {
			return err
		}
	}

	if m.route.method != "" && !m.route.links { // a subtree reads its own query
		var err error
		if c.query, err = protocol.ParseQuery(c.r.URL.RawQuery, m.route.params); err != nil {
			return err
		}
	}

	return m.route.serve(c)
}

// checkForm refuses what no route takes.
func (c *call) checkForm() error {
	if err := protocol.CheckFraming(c.r); err != nil {
		return err
	}

	// DNS rebinding: a page of the web can reach a local server only by a name of its own.
	if len(c.s.hosts) > 0 && !c.s.hosts[hostName(c.r.Host)] {
		return &protocol.Error{Code: protocol.CodeForbidden, Param: "Host",
			Message: "this server is not reached by that name"}
	}
	return protocol.CheckForm(c.r)
}

// identify finds out who sent the request.
func (c *call) identify() error {
	client, err := protocol.Identify(c.s.options.Auth, c.s.options.Public, c.r)
	if err != nil {
		return err
	}
	if c.client = client; !c.s.options.Public {
		conn.ShowedKey(c.r.Context())
	}
	return nil
}

func notAllowed(methods []string) error {
	allow := strings.Join(methods, ", ")
	e := &protocol.Error{Code: protocol.CodeInvalid, Status: http.StatusMethodNotAllowed, Message: "expected the method " + allow}
	return e.With("Allow", allow)
}

// refuse answers with the envelope of an error. When the answer has begun, all
// that is left is to break it off.
func (c *call) refuse(err error) {
	e := protocol.ErrorOf(err)
	status := e.HTTPStatus()
	if status == http.StatusInternalServerError {
		c.s.options.Log.Error("request failed", "request", c.id, "route", c.pattern(), "error", protocol.Clean(e.Error()))
	}
	if c.w.Status() != 0 {
		panic(http.ErrAbortHandler)
	}

	// Nothing was written yet, so the answer can still be an error.
	h := c.w.Header()
	for name, values := range e.Header {
		h[name] = values
	}

	// The rest of the body must not be taken for the next request.
	if !c.body.AtEnd() {
		c.w.Linger()
	}
	_ = c.json(status, e.Envelope(c.id)) // the client may be gone
}

// json answers with a value on one line.
func (c *call) json(status int, v any) error {
	text, err := receipt.AppendJSON(nil, v)
	if err != nil {
		return protocol.Internal(err, "the answer could not be written")
	}
	return c.write(status, mediaJSON, append(text, '\n'))
}

// smallAnswer is how many bytes an answer has that is not counted: places are.
const smallAnswer = 64 << 10

// write answers with a text. A long one takes memory until its client has read it, except on the
// routes whose texts are the same for all.
func (c *call) write(status int, media string, text []byte) error {
	if n := int64(len(text)); n > smallAnswer && c.r.Method == http.MethodGet && !c.route.free {
		n = min(n, c.s.limits.Memory)
		if !c.s.memory.Take(c.share(), n) {
			return protocol.Busy(1, "the answers to other requests take all the memory that there is for them")
		}
		c.after = append(c.after, func() { c.s.memory.Give(c.share(), n) })
	}
	h := c.w.Header()
	h.Set("Content-Type", media)
	h.Set("Content-Length", fmt.Sprint(len(text)))
	c.w.WriteHeader(status)
	_, _ = c.w.Write(text) // whoever does not read it is gone
	return nil
}

func (c *call) pattern() string {
	if c.route == nil {
		return "none"
	}
	return c.route.pattern
}

// end gives back what the call had, and logs it. A panic is answered when nothing
// else was; its stack goes to the log and nowhere else.
func (c *call) end() {
	p := recover()
	aborted := p == http.ErrAbortHandler
	if p != nil && !aborted {
		c.s.options.Log.Error("panic", "request", c.id, "route", c.pattern(), "panic", protocol.Clean(fmt.Sprint(p)), "stack", string(debug.Stack()))
		if aborted = c.w.Status() != 0; !aborted {
			c.refuse(protocol.Internal(nil, "the server made a mistake; it is logged under the request id"))
		}
	}

	// First the body: nothing touches the connection after the answer.
	c.body.Close()
	if c.intake != nil {
		c.intake.Close()
	}
	if aborted && c.w.Status() != 0 {
		c.w.BreakOff()
	}

	for _, f := range c.after {
		f()
	}
	c.log(aborted)
	if aborted {
		panic(http.ErrAbortHandler)
	}
}

// log writes the access log. Everything in it is ours, but for the method and the
// name of a key, which have one word each.
func (c *call) log(aborted bool) {
	took := time.Since(c.started)
	c.s.meters.inFlight.Dec()
	c.s.meters.count(c.method(), c.pattern(), c.w.Status(), took)

	level := slog.LevelInfo
	if c.w.Status() >= http.StatusInternalServerError || aborted {
		level = slog.LevelWarn
	}
	c.s.options.Log.Log(c.r.Context(), level, "request", "request", c.id, "method", c.method(), "route", c.pattern(),
		"status", c.w.Status(), "bytes", c.w.Written(), "ms", float64(took.Microseconds())/1000, "key", c.client.Name, "aborted", aborted)
}

// method is the request's method if it is a usual one: others come from strangers.
func (c *call) method() string {
	switch m := c.r.Method; m {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT":
		return m
	}
	return "other"
}

// client names who shares places and memory with others.
// share names the client among those that share limits.
func (c *call) share() string { return c.client.Share(c.r) }

// place takes a place until the request has been answered.
func (c *call) place(s *fair.Shares, full string) error {
	if !s.Take(c.share(), 1) {
		return protocol.Busy(1, full)
	}
	c.after = append(c.after, func() { s.Give(c.share(), 1) })
	return nil
}

// turn waits until a document may be judged: a small one for a processor, a large one
// for the memory that it takes, which few have at a time.
func (c *call) turn(ctx context.Context, data []byte, kind stream.Kind) (done func(), err error) {
	if weight := stream.Weight(data, kind); weight > 0 {
		return c.heavyTurn(ctx, weight)
	}
	return c.s.judging.Take(ctx, c.share(), 1)
}

// heavyTurn leaves half of the processors to documents that are not large.
func (c *call) heavyTurn(ctx context.Context, size int64) (done func(), err error) {
	const half = 2
	few := max(c.s.limits.Jobs/half, 1)
	return c.s.heavy.Take(ctx, c.share(), max(size, c.s.limits.Judging/int64(few)))
}
