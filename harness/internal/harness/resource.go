package harness

import (
	"net/http"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/harness/feed"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A place consists of the workspace, the session, and the task of a resource. Each of them is "" if
// there is none.
type place struct{ workspace, session, task string }

// orNone returns the string at a pointer, or "" if it is nil.
func orNone(name *string) string {
	if name == nil {
		return ""
	}
	return *name
}

// includes reports whether a list that is restricted to p contains a resource at o.
func (p place) includes(o place) bool {
	fits := func(want, is string) bool { return want == "" || want == is }
	return fits(p.workspace, o.workspace) && fits(p.session, o.session) && fits(p.task, o.task)
}

// A resource can be found by its ID, and appears in lists.
type resource[T any] interface {
	*T
	id() string
	place() place
	shownTo(*protocol.Request) bool
}

func (v *envelope) id() string { return v.ID }

// shownTo reports whether a client that sees the workspace also sees the resource.
func (v *envelope) shownTo(*protocol.Request) bool { return true }

// sees reports whether the client of a request may see resources in a workspace.
func (h *Harness) sees(r *protocol.Request, workspace string) bool {
	return r.Client.Reach.Sees(chain.Stream{Issuer: h.options.Issuer, Workspace: workspace})
}

func seesOne[T any, R resource[T]](h *Harness, r *protocol.Request, v R) bool {
	return v != nil && h.sees(r, v.place().workspace) && v.shownTo(r)
}

// find returns the resource with the given ID if the client may see it.
func find[T any, R resource[T]](h *Harness, r *protocol.Request, t *table[T], id string) (R, error) {
	if v := R(read(&h.state, t, id)); seesOne(h, r, v) {
		return v, nil
	}
	return nil, protocol.NotFound()
}

func (h *Harness) workspace(r *protocol.Request, id string) (*Workspace, error) {
	return find(h, r, &h.state.workspaces, id)
}

func (h *Harness) session(r *protocol.Request, id string) (*Session, error) {
	return find(h, r, &h.state.sessions, id)
}

func (h *Harness) task(r *protocol.Request, id string) (*Task, error) {
	return find(h, r, &h.state.tasks, id)
}

// get responds with the resource whose ID is the value of the given path parameter.
func get[T any, R resource[T]](h *Harness, t *table[T], name string) protocol.Handler {
	return func(w http.ResponseWriter, r *protocol.Request) error {
		v, err := find[T, R](h, r, t, r.PathValue(name))
		if err != nil {
			return err
		}
		return protocol.WriteJSON(w, http.StatusOK, v)
	}
}

// getSettled is like get, but for resources that change when a receipt is issued. If the task has
// ended, getSettled waits for the receipt.
func getSettled[T any, R resource[T]](h *Harness, t *table[T], name string) protocol.Handler {
	return func(w http.ResponseWriter, r *protocol.Request) error {
		v, err := find[T, R](h, r, t, r.PathValue(name))
		if err != nil {
			return err
		}
		// If the task has not ended, v is returned as it was read before. A task that is read now may
		// have ended without a receipt.
		if h.settled(r.Context(), v.place().task).ended() {
			v = read(&h.state, t, v.id())
		}
		return protocol.WriteJSON(w, http.StatusOK, v)
	}
}

// lists responds with the resources that are selected by the query or the path.
func lists[T any, R resource[T]](h *Harness, t *table[T]) protocol.Handler {
	return func(w http.ResponseWriter, r *protocol.Request) error {
		want := place{r.Query["workspace_id"], r.Query["session_id"], r.Query["task_id"]}
		if id := r.PathValue("session_id"); id != "" {
			if _, err := h.session(r, id); err != nil {
				return err
			}
			want.session = id
		}
		if id := r.PathValue("task_id"); id != "" {
			if _, err := h.task(r, id); err != nil {
				return err
			}
			want.task = id
		}
		return feed.WriteItems(w, r, list(&h.state, t, want.task, want.session, want.workspace), func(v *T) string { return R(v).id() },
			func(v *T) bool { return seesOne(h, r, R(v)) && want.includes(R(v).place()) })
	}
}
