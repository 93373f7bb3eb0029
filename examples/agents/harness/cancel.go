package harness

import (
	"net/http"

	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/protocol/journal"
)

// cancel ends a task. One that was canceled stays so; one that ended otherwise cannot be.
func (h *Harness) cancel(w http.ResponseWriter, r *protocol.Request) error {
	found, err := h.task(r, r.PathValue("task_id"))
	if err != nil {
		return err
	}
	reason, err := r.Text("reason")
	if err != nil {
		return err
	}

	of := journal.Pointer{Object: "task", ID: found.ID}
	return h.writeThen(w, r, http.StatusOK, of, func() ([]journal.Event, error) {
		t := read(&h.state, &h.state.tasks, found.ID)
		switch {
		case t.Status == canceled:
			return nil, nil
		case t.ended():
			return nil, protocol.Conflict("the task has ended as " + t.Status)
		}
		told := object{"reason": reason, "actor": actorOf(r)}
		end := ending{OutcomeID: h.newID("outcome"), Summary: "canceled"}
		return []journal.Event{t.event("user.cancel_requested", told), t.event("task.canceled", end.told(told))}, nil
	}, func() any {
		h.stop(found.ID)
		return h.settled(r.Context(), found.ID)
	})
}
