package serve

import (
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// Options configures a Server. The functions in Options are called for each request, so their
// results may change while the server runs; the functions must be fast and safe for concurrent use.
type Options struct {
	// Verifier returns the verifier for receipts. It is required, but the function may return nil
	// while the server is not ready.
	Verifier func() *Verifier

	// Anchors contains verifiers that a request can select instead. The key is the name that a
	// request sends as trust_anchor.
	Anchors map[string]func() *Verifier

	// Source contains the receipts that the protocol's routes serve. If it is nil, these routes do
	// not exist, and the capability receipts is false in discovery.
	Source Source

	// Replay replays tasks for clients that have the scope tasks:replay. If it is nil, the response
	// is a 404 error, and the capability replay is false in discovery.
	Replay Replayer

	// Keys returns the JWK Set whose public members are served at /.well-known/jwks.json. If Keys
	// or its result is nil, the response is a 404 error.
	Keys func() []byte

	// Auth determines which client sent a request. It is required unless Public is set.
	Auth protocol.Authenticator

	// Public accepts all requests without authentication, and treats their senders as a single
	// client. Auth must then be nil.
	Public bool

	// Page is the handler for /. It must set its own headers. If it is nil, the server responds
	// with a short text.
	Page http.Handler

	// Proofs are served under /x/ to clients that may read every receipt that the checkpoint
	// covers. They are also used as evidence: a stored receipt is verified together with its proof.
	// If Proofs is nil, the response is a 404 error.
	Proofs Proofs

	// Batches are used to verify stored receipts, as with the option --batch of the command
	// "receipt verify": each receipt must be in one of the batches. If it is nil, batches are not
	// checked.
	Batches []receipt.Batch

	// Ready returns an error if the rest of the program cannot serve requests, for example because
	// a store is not writable. The response of /readyz is then 503. The error itself is only
	// logged. If Ready is nil, the program is always ready.
	Ready func() error

	// Hosts lists the host names, without a port, that a Host header may contain. A server on a
	// loopback address lists the loopback names (localhost, 127.0.0.1, ::1), so that no web page
	// can reach the server under the page's own host name (DNS rebinding). If Hosts is empty, any
	// name is accepted.
	Hosts []string

	// Tool is the name of the program in summaries. The default is "receipt".
	Tool string

	// Now is the clock of the server. The default is time.Now.
	Now func() time.Time

	// Random is the source of randomness for request IDs. The default is crypto/rand.
	Random io.Reader

	// Log receives one record per request and one per server error. Records contain neither the
	// body, header, or query of a request nor a receipt ID. If Log is nil, nothing is logged.
	Log *slog.Logger

	// Limits bounds the resources that clients can use. The zero value means the defaults.
	Limits Limits
}

// Limits bounds the resources that clients can use. If a field is zero, its default applies.
type Limits struct {
	// Document is the maximum size of a JSON body that contains one receipt, in bytes. The default
	// is also the highest possible value: receipt.MaxBytes. A CBOR body may be longer by a factor
	// that package archive determines. The lines of a stream are limited only by the receipt
	// format.
	Document int64

	// Requests is the maximum number of concurrent requests, not counting requests for metrics and
	// requests that require no API key. The default is 256. Further requests get a 503 response.
	// Each client can use at most half of Requests, of Memory, and of Streams. A client is
	// identified by its API key or, if no key is required, by its address. If other clients already
	// use some of a resource, the client can use less, because it must leave at least as much free
	// for one more client as it uses itself.
	Requests int

	// Memory is the maximum number of bytes that may be used at the same time by request bodies
	// with one receipt, and by GET responses longer than 64 KiB that clients have not finished
	// reading. The default is 128 MiB. A request that would need more gets a 503 response. A body
	// that is arriving uses up to one and a half times its size. It must leave the same amount of
	// memory free for other clients.
	Memory int64

	// Judging is the maximum number of bytes of memory that may be used at the same time to verify
	// receipts larger than 256 KiB. According to [stream.Weight], a receipt of 16 MiB with the
	// least favorable structure uses 200 MiB. The default is 256 MiB. A receipt that needs more
	// than Judging is verified alone. Such receipts, including those in streams, wait until memory
	// is available, and clients take turns.
	Judging int64

	// Streams is the maximum number of streams that are verified at the same time. The default is
	// 8. Further streams get a 503 response. At most two of these streams may be large: compressed,
	// a CBOR sequence longer than 1 MiB, or with lines longer than 1 MiB. The next large stream
	// waits, but no longer than Idle. A large stream uses up to 100 MiB in addition to the memory
	// in Judging, and any other stream uses at most 30 MiB.
	Streams int

	// Jobs is the number of processors that a single stream uses. It is also the maximum number of
	// single receipts that are verified at the same time. For receipts larger than 256 KiB, the
	// maximum is half of Jobs. Further receipts wait. The default is the number of processors that
	// the program may use.
	Jobs int

	// Idle is the maximum time without progress while a body is read or a response is written. The
	// default is 30 s. A stream has no other time limit.
	Idle time.Duration

	// Body is the maximum time for a body with one receipt to arrive. The default is 60 s.
	Body time.Duration
}

// withDefaults returns the limits, with default values for unset fields.
func (l Limits) withDefaults() Limits {
	l.Document = orElse(l.Document, receipt.MaxBytes)
	l.Document = min(l.Document, receipt.MaxBytes)
	l.Requests = orElse(l.Requests, 256)
	l.Memory = orElse(l.Memory, 128<<20)
	l.Judging = orElse(l.Judging, 256<<20)
	l.Streams = orElse(l.Streams, 8)
	l.Jobs = orElse(l.Jobs, runtime.GOMAXPROCS(0))
	l.Idle = orElse(l.Idle, 30*time.Second)
	l.Body = orElse(l.Body, time.Minute)
	return l
}

func orElse[T int | int64 | time.Duration](value, other T) T {
	if value <= 0 {
		return other
	}
	return value
}

// document returns the maximum size of a body that contains one receipt in the given encoding.
func (l *Limits) document(cbor bool) int64 {
	if !cbor {
		return l.Document
	}
	const most = receipt.MaxBytes
	return l.Document * archive.MaxItemBytes / most
}

// These are the scopes that an API key can have.
const (
	scopeRead   = protocol.ReceiptsRead             // read and list receipts, and read their proofs
	ScopeVerify = protocol.Scope("receipts:verify") // verify stored receipts, and receipts in requests
	scopeReplay = protocol.Scope("tasks:replay")    // replay tasks
)

// scopes returns the scopes that an API key for a Server can have.
func scopes() []protocol.Scope { return []protocol.Scope{scopeRead, ScopeVerify, scopeReplay} }

// ParseAPIKeys parses an API key file whose keys may have the scopes of a Server.
func ParseAPIKeys(data []byte) (*protocol.APIKeys, error) {
	return protocol.ParseAPIKeys(data, scopes()...)
}
