package story

// A Handoff is work that was given to another agent.
type Handoff struct {
	Agent  string // that got it; "" is not told
	Status string // the source's word; "" is not told
	Calls  *int64 // of tools, by the agent
	task   string
	label  bool // the source gives it no id
	first  Place
}

func (h *Handoff) write(o *object) {
	o.text("target_agent", h.Agent)
	o.text("task_id", h.task)
	o.is("unnamed", h.label)
	o.text("status", h.Status)
}
