package record

import (
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A handed is work that was given to another agent, in its last state.
type handed struct {
	receipt.Handoff
	ended string // how its status is told; "" when nobody tells any
	label bool   // the source gives it no id: it has a label
	names bool   // two agents were told
}

// Handoffs are by the ids of the tasks that were given away.
type handoffs struct{ event.List[handed] }

// handoff notes the last state of work that was given away.
func handoff(r *run, e *event.Event) {
	p := e.Payload
	id := e.Required(p, "task_id")
	h, fresh := r.handoffs.Entry(id)
	if fresh {
		r.Room(e)
		h.TaskID = id
	}
	h.names = named(&h.TargetAgent, e.Text(p, "target_agent")) || h.names
	h.label = h.label || e.Flag(p, "unnamed")
	last(&h.ended, e.Text(p, "status"))
	last(&h.ReceiptID, e.Text(p, "receipt_id"))
}

// entries are the handoffs as the receipt has them.
func (s *handoffs) entries(t *telling) []receipt.Handoff {
	list := []receipt.Handoff{}
	for i, h := range s.Order {
		at := indexed("/side_effects/a2a_handoffs", i)
		entry := h.Handoff
		entry.TargetAgent = t.name(at+"/target_agent", h.TargetAgent, "unknown")
		entry.Status = event.HandoffStatuses().Meaning(t.name(at+"/status", h.ended, ""), "accepted")
		if h.label {
			t.untold(at + "/task_id")
		}
		if h.names {
			t.contradicts(at, namesDiffer)
		}
		list = append(list, entry)
	}
	return list
}
