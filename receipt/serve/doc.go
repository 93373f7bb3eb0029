// Package serve verifies receipts over HTTP, and serves stored ones, by the routes of the Harn
// Agents Protocol v1.
//
//	v, err := serve.NewVerifier(set, receipt.Policy{}, nil) // set: package keys
//	s, err := serve.New(serve.Options{
//		Verifier: func() *serve.Verifier { return v },
//		Source:   index, // of package files, of a ledger, or any other; nil: nothing is stored
//		Auth:     keys,  // *protocol.APIKeys, or your own; without it, set Public
//	})
//	err = serve.HTTPServer(s, log, 0).Serve(listener)
//
// A [Server] is an http.Handler that mounts in any mux, below any prefix that is removed. It only
// transports: the packages receipt and stream judge receipts, a [Source] stores them, and a
// [Replayer] replays tasks.
//
// # Routes
//
//	POST /v1/verify                  one receipt, or a stream of them
//	GET  /v1/receipts/{id}           a stored receipt, in wire.payload or as an archive
//	POST /v1/receipts/{id}/verify    is it valid?
//	GET  /v1/tasks/{id}/receipts     page by page
//	POST /v1/tasks/{id}/replay       a harness that has a Replayer begins a replay
//	GET  /v1                         discovery
//
// and /.well-known/jwks.json, /openapi.json, /healthz, /readyz, /metrics, the page at /, and proofs
// below /x/. docs/http.md lists what each route requires; [OpenAPI] describes each answer.
//
// # What an answer means
//
// The body of /v1/verify is evidence. A report with the status 200 states everything that is wrong
// with it; any other status is about the request. For a stored receipt, valid is true only if the
// receipt is verified, never if only its content was checked. A streamed answer is complete when
// its last line is a summary, and not before. The answer to a replay is the task that begins with
// it; the receipt of that task states its outcome.
//
// # What a client can do
//
// A client chooses the time, the issuer, and the scope of the question, and names a trust anchor
// that the server has. Keys are never taken from a request, no URL in a request is fetched, and
// nothing is opened by a name from one. [Limits] bound the rest: sizes, memory, places, and how
// long a connection may make no progress.
//
// The exported names may still change; routes and answers are those of docs/http.md.
package serve
