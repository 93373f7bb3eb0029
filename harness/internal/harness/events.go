package harness

import (
	"errors"
	"net/http"

	"github.com/receiptkit/receiptkit/harness/feed"
	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// eventRoutes returns the routes for ranges and streams of events. The ranges and streams contain
// all events, the events of a session, or the events of a task.
func (h *Harness) eventRoutes() []protocol.Route {
	filters := []string{"workspace_id", "session_id", "task_id"}
	return []protocol.Route{
		{Pattern: "GET /v1/events", Scope: protocol.EventsRead, Params: feed.RangeParams(filters...), Serve: h.inRange(h.seen)},
		{Pattern: "GET /v1/events/stream", Scope: protocol.EventsRead, Params: filters, Serve: h.asStream(h.seen)},
		{Pattern: "GET /v1/events/{event_id}", Scope: protocol.EventsRead, Serve: h.getEvent},
		{Pattern: "GET /v1/sessions/{session_id}/events", Scope: protocol.EventsRead, Params: feed.RangeParams(), Serve: h.inRange(h.ofSession)},
		{Pattern: "GET /v1/sessions/{session_id}/events/stream", Scope: protocol.EventsRead, Serve: h.asStream(h.ofSession)},
		{Pattern: "GET /v1/tasks/{task_id}/events", Scope: protocol.EventsRead, Params: feed.RangeParams(), Serve: h.inRange(h.ofTask)},
		{Pattern: "GET /v1/tasks/{task_id}/stream", Scope: protocol.EventsRead, Serve: h.asStream(h.ofTask)},
	}
}

// A viewing returns the view of the events for a request.
type viewing func(*protocol.Request) (journal.View, error)

func (h *Harness) inRange(of viewing) protocol.Handler {
	return func(w http.ResponseWriter, r *protocol.Request) error {
		view, err := of(r)
		if err != nil {
			return err
		}
		return feed.WriteRange(w, r, h.journal.Log(view))
	}
}

func (h *Harness) asStream(of viewing) protocol.Handler {
	return func(w http.ResponseWriter, r *protocol.Request) error {
		view, err := of(r)
		if err != nil {
			return err
		}
		return feed.WriteStream(w, r, h.journal.Log(view))
	}
}

// seen returns the view of all events that the client may see, narrowed by the query parameters.
func (h *Harness) seen(r *protocol.Request) (journal.View, error) {
	view := journal.View{Workspace: r.Query["workspace_id"], Session: r.Query["session_id"], Task: r.Query["task_id"]}
	if !r.Client.Reach.All() {
		view.Sees = func(workspace string) bool { return h.sees(r, workspace) }
	}
	return view, nil
}

func (h *Harness) ofSession(r *protocol.Request) (journal.View, error) {
	s, err := h.session(r, r.PathValue("session_id"))
	if err != nil {
		return journal.View{}, err
	}
	return journal.View{Session: s.ID}, nil
}

// ofTask returns the view of the events of a task. The view ends with the event about the receipt.
func (h *Harness) ofTask(r *protocol.Request) (journal.View, error) {
	t, err := h.task(r, r.PathValue("task_id"))
	if err != nil {
		return journal.View{}, err
	}
	return journal.View{Task: t.ID, Ended: func() bool { return read(&h.state, &h.state.tasks, t.ID).ReceiptID != nil }}, nil
}

func (h *Harness) getEvent(w http.ResponseWriter, r *protocol.Request) error {
	view, err := h.seen(r)
	if err != nil {
		return err
	}
	text, err := h.journal.Event(view, r.PathValue("event_id"))
	switch {
	case errors.Is(err, feed.ErrGone):
		return protocol.NotFound()
	case err != nil:
		return err
	}
	return protocol.Write(w, http.StatusOK, protocol.MediaJSON, append(text, '\n'))
}
