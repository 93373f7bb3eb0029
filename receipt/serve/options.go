package serve

import (
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
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

	// Replay replays tasks, for who has the scope tasks:replay. Nil: 404, and discovery
	// says replay: false.
	Replay Replayer

	// Keys returns the JWK Set that /.well-known/jwks.json shows the public members
	// of. Nil, or a nil result: 404.
	Keys func() []byte

	// Auth determines which client sent a request. Required, unless Public is set.
	Auth protocol.Authenticator

	// Public serves everybody as one client, [protocol.Anyone], without authentication. Auth
	// must be nil.
	Public bool

	// Page is served at /. It sets its own headers. Nil: a short text.
	Page http.Handler

	// Proofs are served below /x/ to whoever may read all receipts that they are of, and
	// are evidence too: a stored receipt is verified with its proof. Nil: 404.
	Proofs Proofs

	// Batches are what stored receipts are verified with, as by receipt verify --batch:
	// each of them has to be in one. Nil: batches are not checked.
	Batches []receipt.Batch

	// Ready returns why the rest of the program cannot serve, such as a store that cannot be
	// written; /readyz then answers 503. The error is for the log. Nil: it always can.
	Ready func() error

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
}
