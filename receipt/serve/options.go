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

// Options configure a Server. Functions are called for each request, so their results may change
// while the server runs; they must be safe for concurrent use and fast.
type Options struct {
	// Verifier returns the verifier of receipts. Required; the function may return nil while the
	// server is not ready.
	Verifier func() *Verifier

	// Anchors are the verifiers that a request may select instead, keyed by the name that the
	// request states as trust_anchor. Nil: none.
	Anchors map[string]func() *Verifier

	// Source holds the receipts of the protocol's routes. If it is nil, these routes do not exist,
	// and discovery states receipts: false.
	Source Source

	// Replay replays tasks for clients that have the scope tasks:replay. If it is nil, the response
	// is 404, and discovery states replay: false.
	Replay Replayer

	// Keys returns the JWK Set whose public members /.well-known/jwks.json shows. If it or its
	// result is nil, the response is 404.
	Keys func() []byte

	// Auth determines which client sent a request. It is required unless Public is set.
	Auth protocol.Authenticator

	// Public serves everyone without authentication, as a single client. Auth must be nil in this
	// case.
	Public bool

	// Page is served at /. It sets its own headers. If it is nil, a short text is served.
	Page http.Handler

	// Proofs are served below /x/ to clients that may read all receipts that the checkpoint covers.
	// They are also evidence: a stored receipt is verified with its proof. Nil: 404.
	Proofs Proofs

	// Batches are the batches against which stored receipts are verified, as with receipt verify
	// --batch: each receipt must be in one of them. If it is nil, batches are not checked.
	Batches []receipt.Batch

	// Ready returns the reason why the rest of the program cannot serve, such as a store that is
	// not writable; the response of /readyz is then 503. The error is only logged. If it is nil,
	// the program is always ready.
	Ready func() error

	// Hosts are the names, without a port, that a Host header may contain. A server on a loopback
	// address lists the loopback names (localhost, 127.0.0.1, ::1), so that no web page can reach
	// it under a name of its own (DNS rebinding). Empty: any.
	Hosts []string

	// Tool is the program's name in summaries. Empty: "receipt".
	Tool string

	// Now is the clock. Nil: time.Now.
	Now func() time.Time

	// Random is the source of request IDs. Nil: crypto/rand.
	Random io.Reader

	// Log receives one record per request and one per fault. Records contain no body, header, or
	// query, and no receipt ID. If it is nil, nothing is logged.
	Log *slog.Logger

	// Limits bound the resources that clients may use. The zero value means the defaults.
	Limits Limits
}

// Limits bound the resources that clients may use. The zero value of a field means its default.
type Limits struct {
	// Document is the maximum size of a body that contains one receipt, in bytes of JSON. The
	// default is also the maximum: receipt.MaxBytes. CBOR may be longer by the factor that package
	// archive allows. Lines of a stream are limited only by the format.
	Document int64

	// Requests is the maximum number of concurrent requests, not counting metrics requests and
	// requests that need no API key. Default: 256. Additional requests receive the status 503. Each
	// API key, or each address if no key is required, can use at most half of Requests, of Memory,
	// and of Streams. If other clients use some of them, the share is smaller, because it must
	// leave an equal share for one more client.
	Requests int

	// Memory is the maximum number of bytes used at the same time by request bodies with one
	// receipt, and by GET responses longer than 64 KiB until clients have read them. Default: 128
	// MiB. If more would be needed, the response is 503. While a body arrives, it uses up to one
	// and a half times its size, and leaves as much to other clients.
	Memory int64

	// Judging is the maximum number of bytes of memory used at the same time for judging receipts
	// larger than 256 KiB: according to [stream.Weight], 200 MiB for 16 MiB with the worst
	// structure. Default: 256 MiB. A receipt that needs more is judged alone. Such receipts,
	// including those in streams, wait for their turn, and clients take turns.
	Judging int64

	// Streams is the maximum number of streams that are verified concurrently. Default: 8.
	// Additional streams receive the status 503. Two of them may have lines longer than 1 MiB, be
	// compressed, or be CBOR sequences longer than 1 MiB; the next such stream waits, at most for
	// Idle. Such a stream uses up to 100 MiB in addition to the memory for judging, and any other
	// stream uses at most 30 MiB.
	Streams int

	// Jobs is the number of processors that one stream uses. It is also the maximum number of
	// single receipts that are judged concurrently, and half of it is the maximum for receipts
	// larger than 256 KiB; additional receipts wait. Default: the number of processors that the
	// program may use.
	Jobs int

	// Idle is the maximum time for which reading a body or writing a response may make no progress.
	// Default: 30 s. A stream has no other time limit.
	Idle time.Duration

	// Body is the maximum time in which a body with one receipt must arrive. Default: 60 s.
	Body time.Duration
}

// withDefaults returns the limits with defaults for unset fields.
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

// document returns the maximum size of a body with one receipt in the given form.
func (l *Limits) document(cbor bool) int64 {
	if !cbor {
		return l.Document
	}
	const most = receipt.MaxBytes
	return l.Document * archive.MaxItemBytes / most
}

// Scopes of API keys.
const (
	scopeRead   = protocol.ReceiptsRead             // get and list receipts, and get their proofs
	ScopeVerify = protocol.Scope("receipts:verify") // verify receipts that are sent or stored
	scopeReplay = protocol.Scope("tasks:replay")    // replay tasks
)

// scopes returns the scopes that an API key for a Server can have.
func scopes() []protocol.Scope { return []protocol.Scope{scopeRead, ScopeVerify, scopeReplay} }

// ParseAPIKeys reads a file of API keys with a Server's scopes.
func ParseAPIKeys(data []byte) (*protocol.APIKeys, error) {
	return protocol.ParseAPIKeys(data, scopes()...)
}
