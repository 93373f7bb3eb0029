package harness

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// cancel cancels a task. A canceled task stays canceled, and a task that has ended in another way
// cannot be canceled. The module is stopped first, so that the log records the effects of tools
// before the end of the task.
func (h *Harness) cancel(w http.ResponseWriter, r *protocol.Request) error {
	found, err := h.task(r, r.PathValue("task_id"))
	if err != nil {
		return err
	}
	reason, err := textMember(r, "reason")
	if err != nil {
		return err
	}
	told := object{"reason": reason, "actor": actorOf(r)}
	asked := []journal.Event{found.event("user.cancel_requested", told)}
	if err := h.recordable(asked); err != nil { // checked before anything is stopped
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

// A run is a module that is currently working on a task.
type run struct {
	cancel context.CancelFunc
	ended  chan struct{} // closed after the module has returned
}

// grace is how long a canceled task waits for its module. A tool that is running is asked to stop,
// and its effects are recorded. The receipt does not cover effects that occur later.
const grace = 5 * time.Second

// halt stops the module of a task, waits at most grace for the module to return, and prevents it
// from being started again until release is called. After release is called, a task that has ended
// gets its receipt, and any other task continues.
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
			h.spawn(func() { h.conclude(id) }) // does not wait for the module, because a tool might not return
			return
		}
		h.begin(id)
	})
}

// spawn runs the function do in the background, unless the harness is closed.
func (h *Harness) spawn(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.tasks.Go(do)
	}
}
