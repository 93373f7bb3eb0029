package serve

import (
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/receiptkit/receiptkit/receipt"
)

// Options say what a Server serves. Functions are called for each request, so that
// what they return may be replaced while serving; they must be safe for concurrent
// use and cheap.
type Options struct {
	// Verifier returns what receipts are judged by. Required; it may return nil for
	// as long as the server is not ready.
	Verifier func() *Verifier

	// Anchors are the verifiers that a request may choose instead, by the name that
	// it gives as trust_anchor. Nil: none.
	Anchors map[string]func() *Verifier

	// Source holds the receipts of the protocol's routes. Nil: no such routes, and
	// discovery says receipts: false.
	Source Source

	// Keys returns the JWK Set that /.well-known/jwks.json shows the public members
	// of. Nil, or a nil result: 404.
	Keys func() []byte

	// APIKeys returns the keys that clients must have. Nil, or a nil result: no
	// authentication.
	APIKeys func() *APIKeys

	// Page is served at /. It sets its own headers. Nil: a short text.
	Page http.Handler

	// Proofs are served below /x/ to whoever may read all receipts that they are of, and
	// are evidence too: a stored receipt is verified with its proof. Nil: 404.
	Proofs Proofs

	// Batches are what stored receipts are verified with, as by receipt verify --batch:
	// each of them has to be in one. Nil: batches are not checked.
	Batches []receipt.Batch

	// Hosts are the names, without port, that a Host header may have: a server on a
	// loopback address lists the loopback names (localhost, 127.0.0.1, ::1), so that
	// no web page can reach it by a name of its own (DNS rebinding). Empty: any.
	Hosts []string

	// Tool is how summaries name the program. Empty: "receipt".
	Tool string

	// Now is the clock. Nil: time.Now.
	Now func() time.Time

	// Random is where request ids come from. Nil: crypto/rand.
	Random io.Reader

	// Log gets one record a request and one for each fault. No record holds a body,
	// a header, a query or an id of a receipt. Nil: nothing is logged.
	Log *slog.Logger

	// Limits bound what clients may use. The zero value means the defaults.
	Limits Limits

	// Registry is where metrics are registered, and what /metrics shows. Nil: a
	// registry of its own.
	Registry *prometheus.Registry
}

// Limits bound what clients may use. The zero value of a field means its default.
type Limits struct {
	// Document is the largest body of one receipt, in bytes of JSON. Default and
	// maximum: receipt.MaxBytes. CBOR may be as much longer as package archive
	// allows. Lines of a stream are bounded by the format's own limit alone.
	Document int64

	// Requests is how many requests are served at the same time, but for those that
	// need no API key, and metrics. Default: 256. The next one is answered 503. Of
	// these places, of Memory, Streams and LargeStreams, each API key, or where none
	// is needed each address, gets half at the most, and less when others have some:
	// as much as it would leave to one more.
	Requests int

	// Memory is how many bytes of bodies are held at the same time by requests of
	// one receipt. Default: 128 MiB. A body that does not fit is answered 503. While
	// it comes in, a body takes up to three halves of its size, and leaves as much.
	Memory int64

	// Judging is how many bytes of memory judging receipts beyond 256 KiB takes at the
	// same time: by [stream.Weight], 200 MiB for 16 MiB of the worst shapes. Default:
	// 256 MiB. Whoever needs more judges alone. Such receipts, of streams too, wait
	// for their turn, which clients take one after the other.
	Judging int64

	// Streams is how many streams are verified at the same time. Default: 8. The
	// next one is answered 503.
	Streams int

	// LargeStreams is how many of them may have lines beyond 1 MiB, be compressed, or be
	// CBOR sequences beyond 1 MiB. Default: 2. The next one waits, at most as long as
	// Idle. One takes up to 100 MiB beside what judging takes, any other stream at
	// most 30 MiB.
	LargeStreams int

	// Jobs is how many processors one stream uses, and how many single receipts are
	// judged at the same time, half as many of those beyond 256 KiB; more wait.
	// Default: as many as the program may use.
	Jobs int

	// Idle is how long a read of a body or a write of an answer may make no
	// progress. Default: 30 s. A stream has no other limit of time.
	Idle time.Duration

	// Body is how long the body of one receipt may take to arrive. Default: 60 s.
	Body time.Duration
}
