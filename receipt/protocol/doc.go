// Package protocol is what every harness of the Harn Agents Protocol v1 needs over HTTP and
// should not have to write: the version of the protocol, API keys with scopes, the envelope
// of errors, lists and their cursors, requests that are done once, and streams of events.
//
//	m, err := protocol.NewMux(protocol.Options{
//		Routes: []protocol.Route{
//			{Pattern: "GET /v1", Open: true, Serve: h.discovery},
//			{Pattern: "POST /v1/tasks", Scope: protocol.TasksWrite, Serve: h.submit},
//			{Pattern: "GET /v1/tasks/{task_id}", Scope: protocol.TasksRead, Serve: h.task},
//			{Pattern: "GET /v1/tasks/{task_id}/stream", Scope: protocol.EventsRead, Serve: h.stream},
//		},
//		Auth: keys, Now: time.Now, Random: rand.Reader,
//	})
//	http.Handle("/v1/", m)
//
// A handler returns what is wrong, or answers:
//
//	func (h *harness) task(w http.ResponseWriter, r *protocol.Request) error {
//		task, ok := h.tasks[r.PathValue("task_id")]
//		if !ok {
//			return protocol.NotFound()
//		}
//		return protocol.WriteJSON(w, http.StatusOK, task)
//	}
//
//	func (h *harness) stream(w http.ResponseWriter, r *protocol.Request) error {
//		return protocol.WriteStream(w, r, h.log(r.PathValue("task_id")))
//	}
//
// A [Mux] does the rest, in the order that its documentation gives, also for the routes of package
// serve:
//
//   - [Authenticator], [APIKeys], [Client], [Scope], [Reach]: who may do what, with which work.
//   - [Error], [Code]: why not, in the protocol's envelope.
//   - [Query], [WriteItems], [WriteRange]: lists, page by page.
//   - [Memory]: what was answered to an Idempotency-Key.
//   - [Log], [WriteStream]: server-sent events.
//   - [ContentType]: what of a request is taken.
//
// # What is bounded
//
// Nothing grows with what clients send or do not read. A Memory has [MemoryLimits], and what
// has no room in it is refused, 429 or 503. A Mux has [Limits] of bodies, answers, requests and
// streams, shared among clients. A stream reads the log as far as its client reads: no event
// waits in memory for a client, and who appends waits for none. Whoever makes no progress is
// cut off, and what was begun under an Idempotency-Key is ended without him.
//
// Clocks and randomness are given, but for the deadlines of connections. No error tells a key,
// a body, or what a server failed at: that is for the log.
//
// The exported names may still change.
package protocol
