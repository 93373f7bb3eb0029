package claude

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/story"
)

// Mentions are the calls and tasks that lines of a stream name besides the lines that state them.
// A call that no other line states was made all the same.
type mentions struct {
	calls []mention
	known map[mention]bool // of calls
	tasks map[string]bool  // IDs of tasks of which a line states the beginning
}

// A mention is the ID of a call, and what names it: the type of the line, and of the block in it.
type mention struct{ id, line, block string }

// called notes that a line names a call. One without an ID is counted as unread.
func (m *mentions) called(s *story.Story, id canon.Node, line, block string) {
	x := mention{s.Name(id), line, block}
	switch {
	case x.id == "":
		s.Ignored(x.kind())
	case !m.known[x]:
		if m.known == nil {
			m.known = map[mention]bool{}
		}
		m.known[x], m.calls = true, append(m.calls, x)
		s.Keep(2 * len(x.id))
	}
}

func (x mention) kind() string {
	if x.block == "" {
		return x.line
	}
	return x.line + "/" + x.block
}

// begun notes that a task of this ID began.
func (m *mentions) begun(s *story.Story, task string) {
	if !m.tasks[task] {
		if m.tasks == nil {
			m.tasks = map[string]bool{}
		}
		m.tasks[task] = true
		s.Keep(len(task))
	}
}

// settle counts the mentions of calls that no line states.
func (m *mentions) settle(s *story.Story) {
	for _, x := range m.calls {
		c := s.Known(x.id)
		if c == nil || isProviderResult(x.block) && c.Ended() == story.Open {
			s.Ignored(x.kind())
		}
	}
}

// partial is the type of the lines that have a part of a message.
const partial = "stream_event"

// part reads a part of a message. An assistant line repeats each block of it, with its ID.
func (m *mentions) part(s *story.Story, e canon.Node) {
	switch kind := e.Member("type"); kind.String() {
	case "message_start":
		for _, b := range contents(e.Member("message")) {
			m.block(s, b)
		}
	case "content_block_start":
		m.block(s, e.Member("content_block"))
	case "content_block_delta", "content_block_stop", "message_delta", "message_stop", "ping", "error":
	default:
		s.Ignored(partial + "/" + cmp.Or(s.Name(kind), "None"))
	}
}

func (m *mentions) block(s *story.Story, b canon.Node) {
	switch kind := b.Member("type").String(); {
	case isCall(kind):
		m.called(s, b.Member("id"), partial, kind)
	case isProviderResult(kind):
		m.called(s, b.Member("tool_use_id"), partial, kind)
	case !isBlock("assistant", kind):
		s.Ignored(partial + "/" + cmp.Or(s.Name(b.Member("type")), "None"))
	}
}

// started notes work that was given to another agent. A command in the background is a task,
// too, and a call. What a task of another type does is not known.
func (m *mentions) started(s *story.Story, n canon.Node) {
	const line = "system/task_started"
	kind, call := n.Member("task_type"), n.Member("tool_use_id")
	agent, task := s.Name(n.Member("subagent_type")), s.Name(n.Member("task_id"))
	if task == "" {
		s.Ignored(line)
		return
	}
	m.begun(s, task)

	switch {
	case agent != "" || kind.String() == "local_agent":
		h := s.Handoff(task, "")
		h.Agent = cmp.Or(h.Agent, agent)
		if c := s.Known(s.Name(call)); c != nil {
			c.HandedTo = task
		}
		if !event.Absent(call) {
			m.called(s, call, line, "")
		}
	case kind.String() == "local_bash":
		m.called(s, call, line, "")
	default:
		s.Ignored(line + "/" + cmp.Or(s.Name(kind), "None"))
	}
}

// runs reads what became of a task. One of which no line states the beginning may do anything.
func (m *mentions) runs(s *story.Story, n canon.Node, sub string) {
	task := s.Name(n.Member("task_id"))
	h := s.Given(task)
	if h == nil && !m.tasks[task] {
		s.Ignored("system/" + sub)
	}
	if h != nil && sub == "task_notification" {
		h.Status = cmp.Or(s.Name(n.Member("status")), h.Status)
	}
}
