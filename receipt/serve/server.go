package serve

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/receiptkit/receiptkit/internal/conn"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// A Server is the http.Handler for all routes of this package. It is safe for concurrent use and
// makes no requests. The only data that it keeps between requests is the responses to requests with
// an Idempotency-Key.
type Server struct {
	options  Options
	limits   Limits
	mux      *protocol.Mux
	meters   *meters
	codec    *archive.Codec
	streams  *conn.Shares
	large    *conn.Shares // of streams
	judging  *turns       // turns for processors, for documents that are not large
	heavy    *turns       // turns for memory, for large documents
	draining atomic.Bool
	began    receipt.Time
	shown    shownKeys
}

// idempotencyKeys is the maximum number of Idempotency-Keys that are remembered per client. If
// there is no room for another key or its response, the oldest key is forgotten, so that no client
// is refused.
const idempotencyKeys = 1024

// New returns a Server with the given options. It returns an error if the options have no verifier,
// or if an anchor has no name or no verifier.
func New(o Options) (*Server, error) {
	if o.Verifier == nil {
		return nil, errors.New("serve: Options.Verifier must be set")
	}
	for name, f := range o.Anchors {
		if name == "" || f == nil {
			return nil, fmt.Errorf("serve: anchor %q has no name or no verifier", name)
		}
	}

	// Defaults are set in a copy of the options, so the caller's options do not change.
	if o.Tool == "" {
		o.Tool = "receipt"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	s := &Server{options: o, limits: o.Limits.withDefaults(), codec: archive.NewCodec()}
	s.began = receipt.At(o.Now())

	// A client that has used its share is refused, but a client whose turn has not come waits.
	s.streams, s.large = conn.NewShares(int64(s.limits.Streams)), conn.NewShares(largeStreams)
	s.judging, s.heavy = newTurns(int64(s.limits.Jobs)), newTurns(s.limits.Judging)
	s.meters = newMeters()

	var err error
	s.mux, err = protocol.NewMux(protocol.Options{
		Routes: s.Routes(), Auth: o.Auth, Public: o.Public, Now: o.Now, Random: o.Random, Log: o.Log, Observe: s.Observe, Hosts: o.Hosts, Guarded: "/v1/",
		Memory: &protocol.Memory{Keys: idempotencyKeys, Forget: true},
		Limits: protocol.Limits{Requests: s.limits.Requests, Memory: s.limits.Memory, Arrive: s.limits.Body, Idle: s.limits.Idle},
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// ServeHTTP responds to a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Routes returns the routes of the server, in the order of docs/http.md. It is intended for a
// program that serves them together with its own routes on one [protocol.Mux]. Requests then use
// the request slots of that Mux, and its Limits apply instead of Requests, Memory, Body, and Idle.
func (s *Server) Routes() []protocol.Route {
	return []protocol.Route{
		{Pattern: "POST /v1/verify", AnyVersion: true, Scope: ScopeVerify, Params: verifyParams(), Body: protocol.BodyStream, Serve: s.answer(verify)},
		{Pattern: "GET /v1/receipts/{id}", Scope: scopeRead, Serve: s.answer(getReceipt)},
		{Pattern: "POST /v1/receipts/{id}/verify", Scope: ScopeVerify, Body: protocol.BodyOptional, Limit: maxVerifyBody, Serve: s.answer(verifyStored)},
		{Pattern: "GET /v1/tasks/{id}/receipts", Scope: scopeRead, Params: []string{"limit", "cursor"}, Serve: s.answer(listReceipts)},
		{Pattern: "POST /v1/tasks/{id}/replay", Scope: scopeReplay, Body: protocol.BodyText, Limit: replay.MaxRequest, Serve: s.answer(postReplay)},
		{Pattern: "GET /v1", Open: true, Serve: s.answer(getDiscovery)},
		{Pattern: "GET /v1/agent-card", Open: true, Serve: s.answer(getAgentCard)},
		{Pattern: "GET /.well-known/jwks.json", Open: true, Serve: s.answer(getKeySet)},
		{Pattern: "GET /openapi.json", Open: true, Serve: s.answer(getOpenAPI)},
		{Pattern: "GET " + schemaPath, Open: true, Serve: s.answer(getSchema)},
		{Pattern: "GET /healthz", Open: true, Serve: s.answer(getHealth)},
		{Pattern: "GET /readyz", Open: true, Serve: s.answer(getReady)},
		{Pattern: "GET /metrics", AnyVersion: true, Scope: protocol.Operator, Free: true, Serve: s.answer(getMetrics)},
		{Pattern: "GET /", Open: true, AnyQuery: true, Serve: s.answer(getPage)},
		{Pattern: "GET /x/checkpoint", AnyVersion: true, Scope: scopeRead, Serve: s.answer(getCheckpoint)},
		{Pattern: "GET /x/receipts/{id}/proof", AnyVersion: true, Scope: scopeRead, Serve: s.answer(getProof)},
	}
}

// answer returns a handler that calls serve.
func (s *Server) answer(serve func(*call) error) protocol.Handler {
	return func(w http.ResponseWriter, r *protocol.Request) error { return serve(&call{s, r, w}) }
}

// Observe counts a request and, after the response, logs it. It is intended as the Observe option
// of a Mux that has the routes of this server.
func (s *Server) Observe() (answered func(protocol.Outcome)) {
	s.meters.inFlight.Inc()
	return func(o protocol.Outcome) {
		s.meters.inFlight.Dec()
		method, route := methodOf(o.Request), cmp.Or(o.Request.Route, "none")
		s.meters.count(method, route, o.Status, o.Took)

		// All logged values are created by the server, except the name of an API key, which is a
		// single word.
		level := slog.LevelInfo
		if o.Status >= http.StatusInternalServerError || o.Aborted {
			level = slog.LevelWarn
		}
		s.options.Log.Log(o.Request.Context(), level, "request", "request", o.Request.ID, "method", method, "route", route,
			"status", o.Status, "bytes", o.Bytes, "ms", float64(o.Took.Microseconds())/1000, "key", o.Request.Client.Name, "aborted", o.Aborted)
	}
}

// Drain makes /readyz report that the server should not receive further requests. It is called
// before the server is shut down. Other requests are still served.
func (s *Server) Drain() { s.draining.Store(true) }

// KeysReloaded counts an attempt to reload the key files; err is the reason why the old keys remain
// in use, or nil.
func (s *Server) KeysReloaded(err error) {
	if err != nil {
		s.meters.reloaded("failed")
		s.options.Log.Error("keys not reloaded; the old ones are kept", "error", err)
		return
	}
	s.meters.reloaded("ok")
	s.options.Log.Info("keys reloaded")
}

// verifier returns the current verifier from f.
func (s *Server) verifier(f func() *Verifier) (*Verifier, error) {
	if v := f(); v != nil {
		return v, nil
	}
	return nil, protocol.Busy(1, "the server has no keys yet")
}
