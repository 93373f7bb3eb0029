// Package serve verifies receipts over HTTP, and serves stored receipts, through the routes of the
// Harn Agents Protocol v1.
//
//	v, err := serve.NewVerifier(set, receipt.Policy{}, nil) // set: package keys
//	s, err := serve.New(serve.Options{
//		Verifier: func() *serve.Verifier { return v },
//		Source:   index, // of package files, of a ledger, or any other; nil: nothing is stored
//		Auth:     keys,  // *protocol.APIKeys, or your own; without it, set Public
//	})
//	err = serve.HTTPServer(s, log, 0).Serve(listener)
//
// A [Server] is an http.Handler that can be mounted in any mux, below any prefix that is removed.
// It contains only transport code: packages receipt and stream judge receipts, a [Source] stores
// them, and a [Replayer] replays tasks.
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
// below /x/. docs/http.md lists the requirements of each route; [OpenAPI] describes each response.
//
// # What an answer means
//
// The body of /v1/verify is evidence. A report with the status 200 states everything that is wrong
// with the evidence; any other status concerns the request. For a stored receipt, valid is true
// only if the receipt is verified, never if only its content was checked. A streamed response is
// complete if and only if its last line is a summary. The response to a replay is the new task; the
// receipt of that task states the outcome.
//
// # What a client can do
//
// A client chooses the time, the issuer, and the scope of the verification, and names a trust
// anchor that the server has. Keys are never taken from a request, no URL in a request is fetched,
// and no file is opened by a name in a request. [Limits] bound everything else: sizes, memory,
// concurrent requests, and the time for which a connection may make no progress.
//
// The API may still change; routes and responses are described in docs/http.md.
package serve
