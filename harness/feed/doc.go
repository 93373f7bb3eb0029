// Package feed serves the lists and events of a harness on the routes of a [protocol.Mux]. Lists
// are divided into pages, and the events of a log are served as ranges and as server-sent events.
//
//	func (h *harness) list(w http.ResponseWriter, r *protocol.Request) error {
//		return feed.WriteItems(w, r, h.tasks, func(t *task) string { return t.ID }, nil)
//	}
//
//	func (h *harness) stream(w http.ResponseWriter, r *protocol.Request) error {
//		return feed.WriteStream(w, r, h.log(r.PathValue("task_id")))
//	}
//
// A stream reads the log only as fast as its client reads the stream. Therefore, no event waits in
// memory for a client, and appending to the log never waits for a client.
package feed
