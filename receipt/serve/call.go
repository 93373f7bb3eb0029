package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon/foreign"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/serve/internal/conn"
	"github.com/receiptkit/receiptkit/receipt/serve/internal/fair"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// ProtocolVersion is the version of the protocol whose routes are served.
const ProtocolVersion = "agents-protocol-2026-04-25"

const versionHeader = "Harn-Agents-Protocol-Version"

// A call is one request and its answer.
type call struct {
	s       *Server
	w       *conn.Answer
	r       *http.Request
	id      string
	started time.Time
	route   *route // nil: none, or not known yet
	vars    []string
	query   query
	key     *APIKey // nil: none, or not known yet
	body    *conn.Body
	held    int64 // of the memory that requests share
	after   []func()
}

func newCall(s *Server, w http.ResponseWriter, r *http.Request) *call {
	c := &call{s: s, w: conn.NewAnswer(w, s.limits.Idle), r: r, id: s.requestID(), started: time.Now()}
	c.body = conn.NewBody(r, c.w, s.limits.Idle)
	s.meters.inFlight.Inc()
	return c
}

// answer is the order of the checks: form, version, key, route, validation.
func (c *call) answer() error {
	h := c.w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if ambiguous(c.r) {
		h.Set("Connection", "close")
	}
	if err := c.checkForm(); err != nil {
		return err
	}

	// What is protected asks for version and key before it says what there is.
	path := c.r.URL.EscapedPath()
	m := c.s.router.find(c.r.Method, path)
	inside := protocol(path)
	if inside || m.route != nil && m.route.version {
		if err := c.checkVersion(); err != nil {
			return err
		}
	}

	if inside || m.route != nil && m.route.key {
		if err := c.checkKey(); err != nil {
			return err
		}
	}

	switch {
	case m.route == nil && len(m.allowed) > 0:
		return notAllowed(m.allowed)
	case m.route == nil:
		return notFound()
	}

	// A route that the key has no scope for is as if it were not there.
	if !c.key.permits(m.route.scope) {
		return notFound()
	}

	c.route, c.vars = m.route, m.vars
	if !m.route.free {
		if err := c.place(c.s.requests, "the server is busy"); err != nil {
			return err
		}
	}

	if m.route.method != "" { // a subtree reads its own query
		var err error
		if c.query, err = parseQuery(c.r.URL.RawQuery, m.route.params); err != nil {
			return err
		}
	}

	return m.route.serve(c)
}

// ambiguous reports whether another reader of the connection may see the end of a
// request elsewhere than net/http does, so that nothing after it may be read as a
// request (RFC 9112, 6.1). With chunks net/http drops a Content-Length. In HTTP/1.0 it
// drops a Transfer-Encoding, and takes the chunks for the next request.
func ambiguous(r *http.Request) bool {
	return r.ProtoMajor == 1 && len(r.TransferEncoding) > 0 || !r.ProtoAtLeast(1, 1)
}

// checkForm refuses what no route takes.
func (c *call) checkForm() error {
	if !c.r.ProtoAtLeast(1, 1) && c.r.Method == http.MethodPost && c.r.Header.Get("Content-Length") == "" {
		return invalid("Content-Length", "expected a Content-Length: HTTP/1.0 has no other end of a body")
	}

	// DNS rebinding: a page of the web can reach a local server only by a name of its own.
	if len(c.s.hosts) > 0 && !c.s.hosts[hostName(c.r.Host)] {
		return &fault{status: http.StatusForbidden, code: codeForbidden, param: "Host",
			message: "this server is not reached by that name"}
	}
	if len(c.r.Header) > maxHeaders {
		return invalid("", "expected at most %d headers, found %d", maxHeaders, len(c.r.Header))
	}

	if len(c.r.URL.EscapedPath()) > maxPath {
		return invalid("", "expected a path of at most %d bytes", maxPath)
	}
	if len(c.r.URL.RawQuery) > maxQuery {
		return invalid("", "expected a query of at most %d bytes", maxQuery)
	}

	return nil
}

func (c *call) checkVersion() error {
	if list := c.r.Header.Values(versionHeader); len(list) == 1 && list[0] == ProtocolVersion {
		return nil
	}
	return &fault{status: http.StatusUpgradeRequired, code: codeVersion, param: versionHeader,
		message: fmt.Sprintf("expected the header %s: %s", versionHeader, ProtocolVersion),
		details: map[string]any{"supported_versions": supportedVersions()}}
}

func supportedVersions() []string { return []string{ProtocolVersion} }

func (c *call) checkKey() error {
	keys := c.s.apiKeys()
	if keys == nil {
		return nil
	}

	if list := c.r.Header.Values("Authorization"); len(list) == 1 {
		if c.key = keys.Authenticate(list[0]); c.key != nil {
			conn.ShowedKey(c.r.Context())
			return nil
		}
	}

	// RFC 9110 section 11.6.1: a 401 names the scheme that would do.
	f := &fault{status: http.StatusUnauthorized, code: codeAuth, message: "expected a valid API key: Authorization: Bearer rk_…"}
	return f.with("WWW-Authenticate", `Bearer realm="receipt"`)
}

// keyName is the name of the API key, "" without one.
func (c *call) keyName() string {
	if c.key == nil {
		return ""
	}
	return c.key.Name
}

// reach is what the client may see.
func (c *call) reach() *Reach {
	if c.key == nil {
		return nil
	}
	return &c.key.Reach
}

func notAllowed(methods []string) error {
	allow := strings.Join(methods, ", ")
	f := &fault{status: http.StatusMethodNotAllowed, code: codeInvalid, message: "expected the method " + allow}
	return f.with("Allow", allow)
}

// refuse answers with the envelope of an error. When the answer has begun, all
// that is left is to break it off.
func (c *call) refuse(err error) {
	var f *fault
	if !errors.As(err, &f) {
		f = internal(err, "the request could not be answered")
	}
	if f.status == http.StatusInternalServerError {
		c.s.options.Log.Error("request failed", "request", c.id, "route", c.pattern(), "error", clean(f.Error()))
	}
	if c.w.Status() != 0 {
		panic(http.ErrAbortHandler)
	}

	// Nothing was written yet, so the answer can still be an error.
	h := c.w.Header()
	for name, values := range f.header {
		h[name] = values
	}

	// The rest of the body must not be taken for the next request.
	if !c.body.AtEnd() {
		c.linger()
	}
	_ = c.json(f.status, f.envelope(c.id)) // the client may be gone
}

// linger makes the connection end with this answer, rather than read a body that
// nobody wants, and end late enough that a client that is still sending sees the
// answer. net/http does so for whoever reads beyond a limit, and knows no other way
// to ask for it. A writer of somebody else's is only told to close.
func (c *call) linger() {
	c.w.Header().Set("Connection", "close")
	limited := http.MaxBytesReader(c.w.ResponseWriter, io.NopCloser(strings.NewReader("beyond")), 0)
	_, _ = limited.Read(make([]byte, 1))
}

// json answers with a value on one line.
func (c *call) json(status int, v any) error {
	text, err := receipt.AppendJSON(nil, v)
	if err != nil {
		return internal(err, "the answer could not be written")
	}
	return c.write(status, mediaJSON, append(text, '\n'))
}

func (c *call) write(status int, media string, text []byte) error {
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
		c.s.options.Log.Error("panic", "request", c.id, "route", c.pattern(), "panic", clean(fmt.Sprint(p)), "stack", string(debug.Stack()))
		if aborted = c.w.Status() != 0; !aborted {
			c.refuse(internal(nil, "the server made a mistake; it is logged under the request id"))
		}
	}

	// First the body: nothing touches the connection after the answer.
	c.body.Close()
	if c.held > 0 {
		c.s.memory.Give(c.client(), c.held)
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
		"status", c.w.Status(), "bytes", c.w.Written(), "ms", float64(took.Microseconds())/1000, "key", c.keyName(), "aborted", aborted)
}

// method is the request's method if it is a usual one: others come from strangers.
func (c *call) method() string {
	switch m := c.r.Method; m {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT":
		return m
	}
	return "other"
}

// clean takes out of a text what would begin a new line, and bounds it.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if foreign.Unsafe(r) {
			return '?'
		}
		return r
	}, text)
	return foreign.Cut(text, 1000)
}

// client names who shares places and memory with others: an API key, or where none is
// needed an address. Of IPv6 it is the first half, since the second is a client's own.
func (c *call) client() string {
	if c.key != nil {
		return "key " + c.key.Name
	}
	host, _, err := net.SplitHostPort(c.r.RemoteAddr)
	if err != nil {
		return "address " + c.r.RemoteAddr
	}

	if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() && !ip.Is4In6() {
		if half, err := ip.WithZone("").Prefix(64); err == nil {
			host = half.String()
		}
	}
	return "address " + host
}

// place takes a place until the request has been answered.
func (c *call) place(s *fair.Shares, full string) error {
	if !s.Take(c.client(), 1) {
		return busy(full)
	}
	c.after = append(c.after, func() { s.Give(c.client(), 1) })
	return nil
}

// turn waits until a document may be judged: a small one for a processor, a large one
// for the memory that it takes, which few have at a time.
func (c *call) turn(ctx context.Context, data []byte, kind stream.Kind) (done func(), err error) {
	if weight := stream.Weight(data, kind); weight > 0 {
		return c.heavyTurn(ctx, weight)
	}
	return c.s.judging.Take(ctx, c.client(), 1)
}

// heavyTurn leaves half of the processors to documents that are not large.
func (c *call) heavyTurn(ctx context.Context, size int64) (done func(), err error) {
	const half = 2
	few := max(c.s.limits.Jobs/half, 1)
	return c.s.heavy.Take(ctx, c.client(), max(size, c.s.limits.Judging/int64(few)))
}
