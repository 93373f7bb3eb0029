// Package serve verifies receipts over HTTP and serves stored receipts, using the routes of the
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
// A [Server] is an http.Handler. It can be mounted in any mux, under any prefix that the mux
// removes. It contains only transport code: packages receipt and stream verify receipts, a [Source]
// stores them, and a [Replayer] replays tasks.
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
// under /x/. docs/http.md lists the requirements of each route, and [OpenAPI] describes each
// response.
//
// # What an answer means
//
// The body of a request to /v1/verify is treated as evidence. A response with status 200 contains a
// report with everything that is wrong with the evidence; any other status is about the request
// itself. For a stored receipt, the member "valid" is true only if the receipt is verified. It is
// never true if only the content was checked. A streamed response is complete if its last line is a
// summary, and incomplete otherwise. The response to a replay request is the new task; the receipt
// of that task shows the outcome.
//
// # What a client can do
//
// A client chooses the time, the issuer, and the scope of the verification, and may select a trust
// anchor by name if the server has it. Keys are never read from a request, URLs in a request are
// never fetched, and names in a request are never used to open a file. [Limits] bounds sizes,
// memory, concurrent requests, and the idle time of connections.
//
// The Go API may still change; docs/http.md describes the routes and responses.
package serve
