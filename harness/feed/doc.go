// Package feed writes the lists of a harness page by page, and the events of its log as ranges and
// as server-sent events, on the routes of a [protocol.Mux].
//
//	func (h *harness) list(w http.ResponseWriter, r *protocol.Request) error {
//		return feed.WriteItems(w, r, h.tasks, func(t *task) string { return t.ID }, nil)
//	}
//
//	func (h *harness) stream(w http.ResponseWriter, r *protocol.Request) error {
//		return feed.WriteStream(w, r, h.log(r.PathValue("task_id")))
//	}
//
// A stream reads the log only as fast as its client reads the stream, so no event waits in memory
// for a client, and appending to the log never waits for a client.
package feed
