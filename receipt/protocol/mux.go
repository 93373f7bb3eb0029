package protocol

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/internal/conn"
)

// Options configure a Mux.
type Options struct {
	// Routes are the routes to serve.
	Routes []Route

	// Auth determines which client sent a request. Required, unless Public is set.
	Auth Authenticator

	// Public serves everyone without authentication, as a single client. Auth must be nil.
	Public bool

	// Now is the clock for idempotency. Required. Deadlines of connections use the system's clock.
	Now func() time.Time

	// Random is the source of request IDs. Required.
	Random io.Reader

	// Memory remembers the responses to requests with an Idempotency-Key. If it is nil, a Memory
	// with the default limits is used, whose content a restart discards.
	Memory *Memory

	// Log gets a record for each 500 response, for each response above 500 that has a cause, and
	// for each panic. It never contains data from clients. If it is nil, nothing is logged.
	Log *slog.Logger

	// Observe, if not nil, is called when a request arrives. The function that it returns is called
	// when the response is complete. Use them for access logs and metrics.
	Observe func() (answered func(Outcome))

	// Hosts are the names, without port, that a Host header may contain; the response to any other
	// name is 403. A server on a loopback address lists the loopback names, so that no web page can
	// reach it under a name of its own (DNS rebinding). Empty: any.
	Hosts []string

	// Guarded is the path below which a request must have the version and an API key even if no
	// route matches, so that a client without a key cannot learn which routes exist. Elsewhere, the
	// response to such a request is 404. Empty: "/".
	Guarded string

	// Limits bounds the resources that clients may use.
	Limits Limits
}

// An Outcome describes the response to a request.
type Outcome struct {
	Request *Request
	Status  int   // 0 if no response began
	Bytes   int64 // size of the response body
	Took    time.Duration
	Aborted bool // the response was aborted
}

// A Mux is the http.Handler of a harness. It does the work that all routes share, in this order,
// before it calls the handler:
//
//  1. the form of the request: its host, 403, and the limits on headers, path, and query, 400
//  2. the version, 426
//  3. the client, 401
//  4. the route, 404 or 405; a route for which the client has no scope is treated as absent
//  5. a request slot, 503
//  6. the query, 400, and the body, 400, 413, 415, 504
//  7. the Idempotency-Key: a remembered response is repeated, 409 with a different body, 202 while
//     the first request is in progress
//  8. the handler, whose error is sent in the protocol's envelope
//
// It is safe for concurrent use, makes no requests, and starts no goroutines.
type Mux struct {
	options  Options
	limits   Limits
	routes   []*servedRoute
	ids      *ids
	memory   *Memory
	requests *conn.Shares
	streams  *conn.Shares
	held     *conn.Shares // bytes of bodies and responses
	closing  chan struct{}
	closed   sync.Once
	hosts    hosts
}

// NewMux returns a Mux. It rejects options without a clock or randomness, invalid routes, and two
// routes with the same method and path.
func NewMux(o Options) (*Mux, error) {
	if o.Now == nil || o.Random == nil {
		return nil, errors.New("protocol: Options.Now and Options.Random must be set")
	}
	if (o.Auth != nil) == o.Public {
		return nil, errors.New("protocol: options must set either Auth, or Public to accept all clients without authentication")
	}

	// The other options have defaults.
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Memory == nil {
		o.Memory = new(Memory)
	}
	if o.Observe == nil {
		o.Observe = func() func(Outcome) { return func(Outcome) {} }
	}
	o.Guarded = cmp.Or(o.Guarded, "/")

	l := o.Limits.withDefaults()
	m := &Mux{options: o, limits: l, ids: newIDs(o.Random), memory: o.Memory, closing: make(chan struct{}), hosts: newHosts(o.Hosts)}
	m.requests, m.streams, m.held = conn.NewShares(int64(l.Requests)), conn.NewShares(mostStreams), conn.NewShares(l.Memory)

	// Each route is compared with the routes before it.
	for _, route := range o.Routes {
		if err := m.add(route); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Mux) add(route Route) error {
	r, err := newRoute(route)
	if err != nil {
		return err
	}
	for _, other := range m.routes {
		if other.method == r.method && shape(other.path) == shape(r.path) {
			return fmt.Errorf("protocol: routes %q and %q are the same", other.Pattern, r.Pattern)
		}
	}
	m.routes = append(m.routes, r)
	return nil
}

// ServeHTTP responds to one request.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := newExchange(m, w, r)
	defer x.end()

	if err := x.answer(); err != nil {
		x.refuse(err)
	}
}

// Close ends the streams, each between two events, so that http.Server.Shutdown does not wait for
// clients that never disconnect. Clients reconnect with the last ID that they received. Other
// requests are still served; requests for streams get the response 503.
func (m *Mux) Close() { m.closed.Do(func() { close(m.closing) }) }

// A match is the result of a route lookup.
type match struct {
	route   *servedRoute // nil if no route has the path, or if no route with the path has the method
	vars    []string     // of the path, unescaped
	allowed []string     // the allowed methods, if a route has the path
	version bool         // the request must have the version
	key     bool         // and an API key
}

func (m *Mux) find(method, escaped string) (found match) {
	known, versioned := false, false

	// All matching routes are compared, so their order does not matter.
	for _, r := range m.routes {
		vars, ok := matchPath(r.path, escaped)
		if !ok {
			continue
		}

		known, versioned = true, versioned || r.versioned()
		if !r.takes(method) {
			found.allowed = append(found.allowed, r.methods()...)
			continue
		}
		if found.route == nil || r.before(found.route) {
			found.route, found.vars = r, vars
		}
	}

	if found.route != nil {
		found.version, found.key = found.route.versioned(), !found.route.Open
		return found
	}

	// A protected path requires the version and a key before the response reveals whether the path
	// exists.
	guarded := versioned || !known && strings.HasPrefix(escaped, m.options.Guarded)
	found.version, found.key = guarded, guarded
	return found
}

// ids generates request IDs. It is safe for concurrent use.
type ids struct {
	mu     sync.Mutex
	random *bufio.Reader
}

// newIDs returns a generator that reads from random.
func newIDs(random io.Reader) *ids {
	const ahead = 512 // number of bytes to read at a time
	return &ids{random: bufio.NewReaderSize(random, ahead)}
}

// next returns 16 hexadecimal digits, or "unnamed" if no randomness is available, because a
// response matters more than an ID.
func (d *ids) next() string {
	var id [8]byte
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := io.ReadFull(d.random, id[:]); err != nil {
		return "unnamed"
	}
	return fmt.Sprintf("%x", id)
}
