package harness

import (
	"net/http"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/harness/journal"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// tellTask serves POST /v1/tasks/{task_id}/messages, the route on which a person sends a message to
// a task.
//
//	input              answers a question of the task, which waits for it (INPUT_REQUIRED)
//	tool_confirmation  approves or denies the use of a tool; the task waits for it (AUTH_REQUIRED)
//	interrupt          is for readers of the conversation; cancel ends a task
func (h *Harness) tellTask(w http.ResponseWriter, r *protocol.Request) error {
	found, err := h.task(r, r.PathValue("task_id"))
	if err != nil {
		return err
	}
	kind, err := requiredText(r, "kind")
	if err != nil {
		return err
	}
	m, err := readMessage(r.JSON.Root().Member("message"), "message")
	if err != nil {
		return err
	}
	say := map[string]func(*Task, *messageInput, object) ([]journal.Event, error){"input": h.input, "tool_confirmation": h.confirm, "interrupt": h.interrupt}[kind]
	if say == nil {
		return protocol.Invalid("kind", "expected input, interrupt or tool_confirmation")
	}

	of := journal.Pointer{Object: "message", ID: h.newID("message")}
	return h.write(w, r, http.StatusCreated, of, func() ([]journal.Event, error) {
		t := read(&h.state, &h.state.tasks, found.ID)
		if t.ended() {
			return nil, transition("the task has ended as " + t.Status)
		}
		if h.journal.Len(journal.View{Task: t.ID}) >= mostEvents {
			return nil, protocol.Conflict("the messages to this task have reached the limit of its receipt")
		}
		told := m.told(of.ID)
		told["actor"] = actorOf(r)
		return say(t, m, told)
	})
}

// transition returns the error for a request that the current state of the task does not allow.
func transition(why string) error {
	return &protocol.Error{Code: protocol.CodeTransition, Message: why}
}

// waits returns the ID of the approval or call for which a task waits.
func (h *Harness) waits(t *Task) string {
	id, _ := look(&h.state, t.ID, func(w *work) (string, bool) { return w.waits, true })
	return id
}

func (h *Harness) input(t *Task, m *messageInput, told object) ([]journal.Event, error) {
	if t.Status != inputRequired {
		return nil, transition("the task does not wait for input")
	}
	told["tool_call_id"], told["text"] = h.waits(t), m.text
	return []journal.Event{t.event("user.input_submitted", told), t.event("task.status_changed", object{"status": working})}, nil
}

func (h *Harness) confirm(t *Task, m *messageInput, told object) ([]journal.Event, error) {
	if t.Status != authRequired {
		return nil, transition("the task does not wait for a confirmation")
	}

	// Only an explicit true is an approval. The value is parsed as strictly as in a receipt,
	// because other parsers also accept the member name "Approved".
	said, err := canon.Parse(m.value)
	if err != nil || said.Root().Member("approved").Kind() != canon.KindBool {
		return nil, protocol.Invalid("message.parts", `expected a part of the type json with the value {"approved": true} or {"approved": false}`)
	}
	approved, decision := record.Signal{Payload: m.value}.Decision() == "approved", "tool.denied"
	if approved {
		decision = "tool.approved"
	}
	told["approval_id"], told["approved"] = h.waits(t), approved
	return []journal.Event{
		t.event("user.tool_confirmation", told),
		t.event(decision, object{"approval_id": h.waits(t), "actor": told["actor"]}),
		t.event("task.status_changed", object{"status": working}),
	}, nil
}

func (h *Harness) interrupt(t *Task, _ *messageInput, told object) ([]journal.Event, error) {
	return []journal.Event{t.event("user.message", told)}, nil
}
