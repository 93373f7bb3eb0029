package serve

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/protocol/fair"
)

// A Server is the http.Handler of all routes. It is safe for concurrent use, keeps
// nothing of one request for the next but which Idempotency-Key came with which body, and
// which replay that began, and makes no request of its own.
type Server struct {
	options  Options
	limits   Limits
	router   router
	hosts    map[string]bool
	meters   *meters
	codec    *archive.Codec
	requests *fair.Shares
	streams  *fair.Shares
	large    *fair.Shares // of streams
	memory   *fair.Shares
	judging  *fair.Turns // of processors, for documents that are not large
	heavy    *fair.Turns // of memory, for those that are
	draining atomic.Bool
	began    receipt.Time
	shown    shownKeys

	idempotency *protocol.Memory // of what may be done again
	once        *protocol.Memory // of what may not

	ids *protocol.IDs
}

// New returns a Server. It returns an error for options without a verifier, and for anchors
// without a name or a verifier.
func New(o Options) (*Server, error) {
	if o.Verifier == nil {
		return nil, errors.New("serve: no Verifier in the options")
	}
	if (o.Auth != nil) == o.Public {
		return nil, errors.New("serve: options must set either Auth, or Public to accept all clients without authentication")
	}
	for name, f := range o.Anchors {
		if name == "" || f == nil {
			return nil, fmt.Errorf("serve: the anchor %q has no name or no verifier", name)
		}
	}

	// Zero options have defaults; the caller keeps its own struct.
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

	s := &Server{options: o, limits: o.Limits.withDefaults(), router: router{routes()}, codec: archive.NewCodec(), idempotency: newMemory(), once: newMemory()}
	s.began = receipt.At(o.Now())
	s.hosts = map[string]bool{}
	for _, host := range o.Hosts {
		s.hosts[hostName(host)] = true
	}

	// Whoever finds no share is refused; whoever has no turn waits for it.
	s.requests, s.memory = fair.NewShares(int64(s.limits.Requests)), fair.NewShares(s.limits.Memory)
	s.streams, s.large = fair.NewShares(int64(s.limits.Streams)), fair.NewShares(int64(s.limits.LargeStreams))
	s.judging, s.heavy = fair.NewTurns(int64(s.limits.Jobs)), fair.NewTurns(s.limits.Judging)
	s.ids = protocol.NewIDs(o.Random)
	s.meters = newMeters()
	return s, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := newCall(s, w, r)
	defer c.end()
	if err := c.answer(); err != nil {
		c.refuse(err)
	}
}

// Drain makes /readyz say that no more requests should be sent here, before the
// server is shut down. Requests are still served.
func (s *Server) Drain() { s.draining.Store(true) }

// KeysReloaded counts an attempt to read the files of keys again; err says why the
// old ones were kept.
func (s *Server) KeysReloaded(err error) {
	if err != nil {
		s.meters.reloaded("failed")
		s.options.Log.Error("keys not reloaded; the old ones are kept", "error", err)
		return
	}
	s.meters.reloaded("ok")
	s.options.Log.Info("keys reloaded")
}

// verifier returns the verifier that is in use now.
func (s *Server) verifier(f func() *Verifier) (*Verifier, error) {
	if v := f(); v != nil {
		return v, nil
	}
	return nil, protocol.Busy(1, "the server has no keys yet")
}

// hostName is a Host header without its port, in lower case.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}
