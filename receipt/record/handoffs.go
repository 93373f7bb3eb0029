package record

// HandoffStatuses returns what the words for the state of another agent's work
// mean, those of workers on the bridge included. Any other, such as running, is
// accepted: it claims no end.
func HandoffStatuses() []Word {
	return []Word{
		{"rejected", "rejected"}, {"denied", "rejected"},
		{"failed", "failed"}, {"cancelled", "failed"}, {"canceled", "failed"}, {"stopped", "failed"}, {"timeout", "failed"},
		{"completed", "completed"}, {"succeeded", "completed"},
	}
}

// handoff notes the last state of work that was given away.
func handoff(r *run, e *event) {
	p := e.payload
	id := e.required(p, "task_id")
	h, fresh := r.handoffs.entry(id)
	if fresh {
		r.room(e)
		h.TaskID, h.Status = id, "accepted"
	}
	first(&h.TargetAgent, e.text(p, "target_agent"))
	if h.TargetAgent == "" {
		e.fail(CodePayload, p, "the member target_agent is missing or empty")
	}
	if s := e.text(p, "status"); s != "" {
		h.Status = meaning(HandoffStatuses(), s, "accepted")
	}
	last(&h.ReceiptID, e.text(p, "receipt_id"))
}
