package record

import "github.com/receiptkit/receiptkit/receipt"

// handoffStatuses returns what the words for the state of another agent's work
// mean, those of workers on the bridge included. Any other, such as running, is
// accepted: it claims no end.
func handoffStatuses() []word {
	return []word{
		{"rejected", "rejected"}, {"denied", "rejected"},
		{"failed", "failed"}, {"cancelled", "failed"}, {"canceled", "failed"}, {"stopped", "failed"}, {"timeout", "failed"},
		{"completed", "completed"}, {"succeeded", "completed"},
	}
}

// A handed is work that was given to another agent, in its last state.
type handed struct {
	receipt.Handoff
	ended string // how its status is told; "" when nobody tells any
	names bool   // two agents were told
}

// handoff notes the last state of work that was given away.
func handoff(r *run, e *event) {
	p := e.payload
	id := e.required(p, "task_id")
	h, fresh := r.handoffs.entry(id)
	if fresh {
		r.room(e)
		h.TaskID = id
	}
	h.names = named(&h.TargetAgent, e.text(p, "target_agent")) || h.names
	last(&h.ended, e.text(p, "status"))
	last(&h.ReceiptID, e.text(p, "receipt_id"))
}

func (r *run) handoffList(t *telling) []receipt.Handoff {
	list := []receipt.Handoff{}
	for i, h := range r.handoffs.order {
		at := indexed("/side_effects/a2a_handoffs", i)
		entry := h.Handoff
		entry.TargetAgent = t.name(at+"/target_agent", h.TargetAgent, "unknown")
		entry.Status = meaning(handoffStatuses(), t.name(at+"/status", h.ended, ""), "accepted")
		if h.names {
			t.contradicts(at, namesDiffer)
		}
		list = append(list, entry)
	}
	return list
}
