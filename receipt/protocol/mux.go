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

// Options configures a Mux.
type Options struct {
	// Routes are the routes that the Mux serves.
	Routes []Route

	// Auth determines which client sent a request. It is required unless Public is set.
	Auth Authenticator

	// Public accepts all requests without authentication, and treats their senders as a single
	// client. Auth must then be nil.
	Public bool

	// Now is the clock for idempotency. Required. The deadlines of connections use the system
	// clock.
	Now func() time.Time

	// Random is the source of randomness for request IDs. Required.
	Random io.Reader

	// Memory remembers the responses to requests with an Idempotency-Key. If it is nil, a Memory
	// with default limits is used; its content is lost on a restart.
	Memory *Memory

	// Log receives a record for each panic, for each 500 response, and for each response with a
	// status above 500 that has a cause. Log records contain no data from clients, unless a handler
	// includes such data in the value of a panic or in the cause of an error. If Log is nil,
	// nothing is logged.
	Log *slog.Logger

	// If Observe is not nil, it is called when a request arrives. The function that it returns is
	// called when the response is complete. Observe can be used for access logs and metrics.
	Observe func() (answered func(Outcome))

	// Hosts contains the names, without a port, that a Host header may contain. A request with any
	// other name gets a 403 response. A server on a loopback address lists the loopback names, so
	// that no web page can reach the server under the page's own host name (DNS rebinding). If
	// Hosts is empty, any name is accepted.
	Hosts []string

	// Guarded is a path prefix. Below it, every request must have a protocol version and an API
	// key, even if no route matches, so that a client without a key cannot learn which routes
	// exist. Elsewhere, a request that matches no route gets a 404 response. The default is "/".
	Guarded string

	// Limits bounds the resources that clients can use.
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

// A Mux is the http.Handler of a harness. A Mux does the work that all routes share, in the
// following order, before it calls the handler:
//
//  1. checks the form of the request: its host (403) and the limits on headers, path, and query
//     (400)
//  2. checks the protocol version (426)
//  3. identifies the client (401)
//  4. finds the route (404 or 405); a route for which the client has no scope is treated as absent
//  5. acquires a request slot (503)
//  6. reads the query (400) and the body (400, 413, 415, or 504)
//  7. checks the Idempotency-Key: a remembered response is repeated, a different body gets 409, and
//     a request whose first copy is still in progress gets 202
//  8. calls the handler and, if it returns an error, sends the error in the protocol's envelope
//
// A Mux is safe for concurrent use, makes no requests, and starts no goroutines.
type Mux struct {
	options  Options
	limits   Limits
	routes   []*servedRoute
	ids      *ids
	memory   *Memory
	requests *conn.Shares
	streams  *conn.Shares
	held     *conn.Shares // number of bytes in bodies and responses
	closing  chan struct{}
	closed   sync.Once
	hosts    hosts
}

// NewMux returns a Mux with the given options. It rejects options without a clock or without a
// source of randomness, invalid routes, and two routes with the same method and path.
func NewMux(o Options) (*Mux, error) {
	if o.Now == nil || o.Random == nil {
		return nil, errors.New("protocol: Options.Now and Options.Random must be set")
	}
	if (o.Auth != nil) == o.Public {
		return nil, errors.New("protocol: options must set either Auth, or Public to accept all clients without authentication")
	}

	// All other options have defaults.
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

	// Each route is compared with the routes that precede it.
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

// ServeHTTP responds to a request.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := newExchange(m, w, r)
	defer x.end()

	if err := x.answer(); err != nil {
		x.refuse(err)
	}
}

// Close ends each stream between two events, so that http.Server.Shutdown does not wait for clients
// that never disconnect. Clients can reconnect with the last event ID that they received. Other
// requests are still served, but new requests for streams get a 503 response.
func (m *Mux) Close() { m.closed.Do(func() { close(m.closing) }) }

// A match is the result of a route lookup.
type match struct {
	route   *servedRoute // nil if no route matches both the path and the method
	vars    []string     // variables in the path, unescaped
	allowed []string     // the allowed methods, if a route matches the path
	version bool         // the request must state the protocol version
	key     bool         // the request must have an API key
}

func (m *Mux) find(method, escaped string) (found match) {
	known, versioned := false, false

	// All matching routes are compared, so that the order of routes does not matter.
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

	// On a guarded path, the version and the key are checked before the response reveals whether
	// the path exists.
	guarded := versioned || !known && strings.HasPrefix(escaped, m.options.Guarded)
	found.version, found.key = guarded, guarded
	return found
}

// An ids value generates request IDs. It is safe for concurrent use.
type ids struct {
	mu     sync.Mutex
	random *bufio.Reader
}

// newIDs returns a generator that uses the given source of randomness.
func newIDs(random io.Reader) *ids {
	const ahead = 512 // number of random bytes to read at a time
	return &ids{random: bufio.NewReaderSize(random, ahead)}
}

// next returns 16 hexadecimal digits, or "unnamed" if no randomness is available, because a missing
// ID must not prevent a response.
func (d *ids) next() string {
	var id [8]byte
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := io.ReadFull(d.random, id[:]); err != nil {
		return "unnamed"
	}
	return fmt.Sprintf("%x", id)
}
