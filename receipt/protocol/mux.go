package protocol

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/receipt/protocol/fair"
)

// Options say what a Mux serves.
type Options struct {
	// Routes are what is served.
	Routes []Route

	// Auth determines which client sent a request. Required, unless Public is set.
	Auth Authenticator

	// Public serves everybody as one client, [Anyone], without authentication. Auth must be
	// nil.
	Public bool

	// Now is the clock of what is remembered. Required. Deadlines of connections are the
	// system's.
	Now func() time.Time

	// Random is where names of requests come from. Required.
	Random io.Reader

	// Memory remembers the answers to requests with an Idempotency-Key. Nil: one with the
	// default limits, which a restart empties.
	Memory *Memory

	// Log gets a record for each answer 500, and for each above it that has a cause, with the
	// cause, and for each panic. Nothing that a client sent is in it. Nil: nothing is logged.
	Log *slog.Logger

	// Limits bound what clients may use.
	Limits Limits
}

// A Mux is the http.Handler of a harness: what is common to all of its routes is done here,
// in this order, and what is left is the handler's.
//
//  1. the form of the request: bounds of headers, path and query, 400
//  2. the version, 426
//  3. the client, 401
//  4. the route, 404 or 405; one that the client has no scope for is as if it were not there
//  5. a place among the requests that are answered at the same time, 503
//  6. the query, 400, and the body, 400, 413, 415, 504
//  7. the Idempotency-Key: an answer that was given is given again, 409 with another body,
//     202 while the first is being answered
//  8. the handler, whose error is answered with the protocol's envelope
//
// It is safe for concurrent use, and makes no request and no goroutine of its own.
type Mux struct {
	options  Options
	limits   Limits
	routes   []*servedRoute
	ids      *IDs
	memory   *Memory
	requests *fair.Shares
	streams  *fair.Shares
	bodies   *fair.Shares
	answers  *fair.Shares
	closing  chan struct{}
	closed   sync.Once
}

// NewMux returns a Mux. It refuses options without a clock or randomness, and routes of which
// one is none or two are the same.
func NewMux(o Options) (*Mux, error) {
	if o.Now == nil || o.Random == nil {
		return nil, errors.New("protocol: no Now or no Random in the options")
	}
	if (o.Auth != nil) == o.Public {
		return nil, errors.New("protocol: options must set either Auth, or Public to accept all clients without authentication")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Memory == nil {
		o.Memory = NewMemory(MemoryLimits{})
	}

	l := o.Limits.withDefaults()
	m := &Mux{options: o, limits: l, ids: NewIDs(o.Random), memory: o.Memory, closing: make(chan struct{})}
	m.requests, m.streams = fair.NewShares(int64(l.Requests)), fair.NewShares(int64(l.Streams))
	m.bodies, m.answers = fair.NewShares(l.Bodies), fair.NewShares(l.Answers)
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
			return fmt.Errorf("protocol: the routes %q and %q are the same", other.Pattern, r.Pattern)
		}
	}
	m.routes = append(m.routes, r)
	return nil
}

// ServeHTTP answers one request.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := newExchange(m, w, r)
	defer x.end()
	if err := x.answer(); err != nil {
		x.refuse(err)
	}
}

// Close ends the streams, each between two events, so that http.Server.Shutdown does not
// wait for clients that never leave: they come again with the last id. Requests are still
// answered, but for streams, 503.
func (m *Mux) Close() { m.closed.Do(func() { close(m.closing) }) }

// A match is what was found for a request.
type match struct {
	route   *servedRoute // nil: no route has the path, or none the method
	vars    []string     // of the path, unescaped
	allowed []string     // methods, when a route has the path
	open    bool         // a route that has the path is open, and none other has it
}

func (m *Mux) find(method, escaped string) (found match) {
	paths, open := 0, 0
	for _, r := range m.routes {
		vars, ok := MatchPath(r.path, escaped)
		if !ok {
			continue
		}

		if paths++; r.Open {
			open++
		}
		if !r.takes(method) {
			found.allowed = append(found.allowed, r.methods()...)
			continue
		}
		if found.route == nil || r.before(found.route) {
			found.route, found.vars = r, vars
		}
	}

	found.open = found.route != nil && found.route.Open || found.route == nil && paths > 0 && open == paths
	return found
}
