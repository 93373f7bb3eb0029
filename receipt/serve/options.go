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

// Options configure a Server. Functions are called for each request, so that their results may
// change while the server runs; they must be safe for concurrent use and cheap.
type Options struct {
	// Verifier returns the verifier of receipts. Required; it may return nil as long as the server
	// is not ready.
	Verifier func() *Verifier

	// Anchors are the verifiers that a request may choose instead, by the name that it states as
	// trust_anchor. Nil: none.
	Anchors map[string]func() *Verifier

	// Source holds the receipts of the protocol's routes. Nil: no such routes, and discovery states
	// receipts: false.
	Source Source

	// Replay replays tasks for clients with the scope tasks:replay. Nil: 404, and discovery states
	// replay: false.
	Replay Replayer

	// Keys returns the JWK Set whose public members /.well-known/jwks.json shows. Nil, or a nil
	// result: 404.
	Keys func() []byte

	// Auth determines which client sent a request. Required, unless Public is set.
	Auth protocol.Authenticator

	// Public serves everybody as one client, without authentication. Auth must be nil.
	Public bool

	// Page is served at /. It sets its own headers. Nil: a short text.
	Page http.Handler

	// Proofs are served below /x/ to clients that may read all receipts of the checkpoint. They are
	// evidence, too: a stored receipt is verified with its proof. Nil: 404.
	Proofs Proofs

	// Batches are the batches that stored receipts are verified with, as by receipt verify --batch:
	// each receipt must be in one of them. Nil: batches are not checked.
	Batches []receipt.Batch

	// Ready returns the reason why the rest of the program cannot serve, such as a store that
	// cannot be written; /readyz then answers 503. The error is only logged. Nil: it can always
	// serve.
	Ready func() error

	// Hosts are the names, without port, that a Host header may have. A server on a loopback
	// address lists the loopback names (localhost, 127.0.0.1, ::1), so that no web page can reach
	// it by a name of its own (DNS rebinding). Empty: any.
	Hosts []string

	// Tool is the name of the program in summaries. Empty: "receipt".
	Tool string

	// Now is the clock. Nil: time.Now.
	Now func() time.Time

	// Random is the source of request IDs. Nil: crypto/rand.
	Random io.Reader

	// Log gets one record per request and one per fault. No record contains a body, a header, a
	// query, or the ID of a receipt. Nil: nothing is logged.
	Log *slog.Logger

	// Limits bound the resources that clients may use. The zero value means the defaults.
	Limits Limits
}

// Limits bound the resources that clients may use. The zero value of a field means its default.
type Limits struct {
	// Document is the largest body of one receipt, in bytes of JSON. Default and maximum:
	// receipt.MaxBytes. CBOR may be longer by the factor that package archive allows. Lines of a
	// stream are bounded only by the format's own limit.
	Document int64

	// Requests is how many requests are served at the same time, except for those that need no API
	// key, and metrics. Default: 256. Further requests are answered with 503. Each API key, or each
	// address if no key is needed, gets at most half of these places, of Memory, and of Streams,
	// and less if others hold some: as much as it leaves for one more client.
	Requests int

	// Memory is how many bytes are held at the same time by bodies of requests with one receipt,
	// and by answers to GET beyond 64 KiB until clients have read them. Default: 128 MiB. Beyond
	// it, the answer is 503. While a body arrives, it takes up to three halves of its size, and
	// leaves as much to others.
	Memory int64

	// Judging is how many bytes of memory judging receipts beyond 256 KiB takes at the same time:
	// by [stream.Weight], 200 MiB for 16 MiB of the worst shapes. Default: 256 MiB. A receipt that
	// needs more is judged alone. Such receipts, also of streams, wait for their turn, which
	// clients take one after the other.
	Judging int64

	// Streams is how many streams are verified at the same time. Default: 8. The
	// next one is answered 503. Two of them may have lines beyond 1 MiB, be compressed, or be
	// CBOR sequences beyond 1 MiB; the next such one waits, at most as long as Idle. One takes
	// up to 100 MiB in addition to the memory for judging, any other stream at most 30 MiB.
	Streams int

	// Jobs is how many processors one stream uses, and how many single receipts are judged at the
	// same time, half as many beyond 256 KiB; further ones wait. Default: as many as the program
	// may use.
	Jobs int

	// Idle is how long a read of a body or a write of an answer may make no
	// progress. Default: 30 s. A stream has no other limit of time.
	Idle time.Duration

	// Body is how long the body of one receipt may take to arrive. Default: 60 s.
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

// document returns the largest body of one receipt in a form.
func (l *Limits) document(cbor bool) int64 {
	if !cbor {
		return l.Document
	}
	const most = receipt.MaxBytes
	return l.Document * archive.MaxItemBytes / most
}

// Scopes of API keys.
const (
	scopeRead   = protocol.ReceiptsRead             // get and list receipts, and their proofs
	ScopeVerify = protocol.Scope("receipts:verify") // verify what is sent, and what is stored
	scopeReplay = protocol.Scope("tasks:replay")    // replay tasks
)

// scopes returns the scopes that a key of a Server can have.
func scopes() []protocol.Scope { return []protocol.Scope{scopeRead, ScopeVerify, scopeReplay} }

// ParseAPIKeys reads a file of API keys with the scopes of a Server.
func ParseAPIKeys(data []byte) (*protocol.APIKeys, error) {
	return protocol.ParseAPIKeys(data, scopes()...)
}
