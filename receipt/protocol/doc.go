// Package protocol implements the parts of the Harn Agents Protocol v1 over HTTP that every harness
// needs: the protocol version, API keys with scopes, the error envelope, lists and their cursors,
// idempotency, and slots for streams.
//
//	m, err := protocol.NewMux(protocol.Options{
//		Routes: []protocol.Route{
//			{Pattern: "GET /v1", Open: true, Serve: h.discovery},
//			{Pattern: "POST /v1/tasks", Scope: protocol.TasksWrite, Serve: h.submit},
//			{Pattern: "GET /v1/tasks/{task_id}", Scope: protocol.TasksRead, Serve: h.task},
//		},
//		Auth: keys, Now: time.Now, Random: rand.Reader,
//	})
//	http.Handle("/v1/", m)
//
// A handler writes the response to a request or returns an error:
//
//	func (h *harness) task(w http.ResponseWriter, r *protocol.Request) error {
//		task, ok := h.tasks[r.PathValue("task_id")]
//		if !ok {
//			return protocol.NotFound()
//		}
//		return protocol.WriteJSON(w, http.StatusOK, task)
//	}
//
// A [Mux] does everything else, in the order that its documentation lists. The Mux also serves the
// routes of package serve. The parts of the package are:
//
//   - [Authenticator], [APIKeys], [Client], [Scope], [Reach]: clients, their permissions, and the
//     streams that they may see.
//   - [Error], [Code]: errors in the protocol's envelope.
//   - [Query], [FormatCursor]: the parameters and cursors of lists.
//   - [Memory]: remembered responses to requests with an Idempotency-Key.
//   - [Stream]: responses without a fixed end. Package feed in the harness module writes lists,
//     ranges, and server-sent events.
//   - [ContentType]: the media types of request bodies.
//
// # What is bounded
//
// Memory use does not grow with the amount of data that clients send or do not read. A [Memory] has
// limits; once they are reached, a new Idempotency-Key is rejected with 429 or 503. A Mux has
// [Limits] on bodies, responses, requests, and streams, and clients share these limits. A client
// that makes no progress is disconnected. A request with an Idempotency-Key continues even if its
// client disconnects.
//
// The caller supplies the clock and the source of randomness; only the deadlines of connections use
// the system clock. Errors that are sent to clients contain no key, no body, and no cause of a
// server error; the cause is only logged.
//
// The API of this package may still change.
package protocol
