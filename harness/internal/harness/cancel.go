package harness

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// cancel ends a task. One that was canceled stays so; one that ended otherwise cannot be. First the
// module is stopped, and what a tool has done by then is in the log before the end is.
func (h *Harness) cancel(w http.ResponseWriter, r *protocol.Request) error {
	found, err := h.task(r, r.PathValue("task_id"))
	if err != nil {
		return err
	}
	reason, err := r.Text("reason")
	if err != nil {
		return err
	}
	told := object{"reason": reason, "actor": actorOf(r)}
	asked := []journal.Event{found.event("user.cancel_requested", told)}
	if err := h.recordable(asked); err != nil { // before anything is stopped
		return notRecordable()
	}
	if err := r.Hold(found.Input.size() + found.Metadata.size()); err != nil {
		return err
	}

	of := journal.Pointer{Object: "task", ID: found.ID}
	release := h.halt(found.ID)
	defer release()
	return h.writeThen(w, r, http.StatusOK, of, func() ([]journal.Event, error) {
		t := read(&h.state, &h.state.tasks, found.ID)
		switch {
		case t.Status == canceled:
			return nil, nil
		case t.ended():
			return nil, protocol.Conflict("the task has ended as " + t.Status)
		}
		end := ending{OutcomeID: h.newID("outcome"), Summary: "canceled"}
		return append(asked, t.event("task.canceled", end.told(told))), nil
	}, func() any {
		release()
		return h.settled(r.Context(), found.ID)
	})
}

// A run is a module at work on a task.
type run struct {
	cancel context.CancelFunc
	ended  chan struct{} // closed when the module has returned
}

// grace is how long a task that is canceled waits for what its module does: a tool at work is asked
// to stop, and what it did is recorded. What a tool does later, its receipt does not know.
const grace = 5 * time.Second

// halt stops the module of a task, waits until it has returned, and keeps it from beginning again
// until release is called. Then a task that has ended gets its receipt, and any other goes on.
func (h *Harness) halt(id string) (release func()) {
	h.mu.Lock()
	h.halted[id]++
	at := h.running[id]
	h.mu.Unlock()
	if at != nil {
		at.cancel()
		select {
		case <-at.ended:
		case <-time.After(grace):
		case <-h.life.Done():
		}
	}

	return sync.OnceFunc(func() {
		h.mu.Lock()
		if h.halted[id]--; h.halted[id] == 0 {
			delete(h.halted, id)
		}
		h.mu.Unlock()
		if read(&h.state, &h.state.tasks, id).ended() {
			h.spawn(func() { h.conclude(id) }) // also while a tool does not return
			return
		}
		h.begin(id)
	})
}

// spawn does something in the background, unless the harness is closed.
func (h *Harness) spawn(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.tasks.Go(do)
	}
}
