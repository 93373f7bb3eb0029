package story

import (
	"slices"

	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// An index is a list with a limited number of entries.
type index[T any] struct{ event.List[T] }

func (l *index[T]) entry(s *Story, id string) (*T, bool) {
	t, fresh := l.Entry(id)
	if fresh {
		s.charge(len(l.Order), entryCost+len(id))
	}
	return t, fresh
}

// Handoffs lists the work that was delegated to other agents.
type Handoffs struct {
	story *Story
	list  index[Handoff]
}

// A Handoff is work that was delegated to another agent.
type Handoff struct {
	Agent  string // agent that received the work, or ""
	Status string // the source's word for the state of the work, or ""
	Calls  *int64 // number of tool calls that the agent made

	task  string
	label bool // the source assigns no ID to the work
	first Place
}

// Handoff returns the work with the given ID, and creates it if necessary. If id is "", the label
// identifies the work.
func (x *Handoffs) Handoff(id, label string) *Handoff {
	key := id
	if id == "" {
		key = label
	}
	h, fresh := x.list.entry(x.story, key)
	if fresh {
		h.task, h.label, h.first = key, id == "", x.story.Here()
	}

	return h
}

// Given returns the work with the given ID, or nil if no line delegated such work.
func (x *Handoffs) Given(id string) *Handoff { return x.list.ByID[id] }

// Handed returns the IDs of work that was delegated to other agents, without work that has no ID.
func (x *Handoffs) Handed() (ids []string) {
	for _, h := range x.list.Order {
		if !h.label {
			ids = append(ids, h.task)
		}
	}

	return ids
}

// Nobodys reports whether work was delegated to an agent whose ID does not appear in any line.
func (x *Handoffs) Nobodys() bool {
	return slices.ContainsFunc(x.list.Order, func(h *Handoff) bool { return h.label })
}

// HasCalls reports whether the number of an agent's completed calls that were read equals the
// number that the delegating agent reports.
func (x *Handoffs) HasCalls(agent string) bool {
	h := x.Given(agent)
	if h == nil || h.Calls == nil {
		return false
	}
	n := int64(0)

	for c := range x.story.Asked() {
		if c.Agent == agent && c.outcome != Open {
			n++
		}
	}

	return n == *h.Calls
}

func (h *Handoff) members() event.Members {
	return event.Members{"target_agent": h.Agent, "task_id": h.task, "unnamed": h.label, "status": h.Status}
}
