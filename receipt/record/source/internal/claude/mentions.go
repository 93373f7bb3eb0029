package claude

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// mentions contains the tasks and content blocks to which lines of a stream refer. Other lines
// record the actions themselves.
type mentions struct {
	tasks story.Set                  // IDs of tasks whose beginning is stated
	parts map[string]map[string]bool // by agent, the indexes of the calls in the message that the agent is writing
}

// partial is the type of a line that contains part of a message.
const partial = "stream_event"

// part reads a part of a message. An assistant line later repeats each block of the message, with
// its ID. A delta that is neither text nor part of a known call may be part of any call.
func (m *mentions) part(s *story.Story, n canon.Node) {
	e, agent := n.Member("event"), n.Member("parent_tool_use_id").String()
	index := string(e.Member("index").Raw())
	switch kind := e.Member("type"); kind.String() {
	case "message_start":
		delete(m.parts, agent)
		for i, b := range contents(e.Member("message")) {
			m.block(s, b, agent, strconv.Itoa(i))
		}
	case "content_block_start":
		m.block(s, e.Member("content_block"), agent, index)
	case "content_block_delta":
		delta := e.Member("delta").Member("type")
		if began := m.parts[agent]; !slices.Contains(harmless()["delta"], delta.String()) && !began[index] && (index != "" || len(began) == 0) {
			s.Unknown(partial+"/", delta)
		}
	case "content_block_stop", "message_delta", "message_stop", "ping", "error":
	default:
		s.Unknown(partial+"/", kind)
	}
}

func (m *mentions) block(s *story.Story, b canon.Node, agent, index string) {
	switch kind := b.Member("type").String(); {
	case isCall(kind):
		s.Mention(s.Name(b.Member("id")), partial+"/"+kind, false)
		if m.parts == nil {
			m.parts = map[string]map[string]bool{}
		}
		if m.parts[agent] == nil {
			m.parts[agent] = map[string]bool{}
			s.Keep(len(agent))
		}
		m.parts[agent][index] = true
	case isProviderResult(kind):
		s.Mention(s.Name(b.Member("tool_use_id")), partial+"/"+kind, true)
	case !isBlock("assistant", kind):
		s.Unknown(partial+"/", b.Member("type"))
	}
}

// started records that work was given to another agent. A background command is both a task and a
// call. For tasks of other types, the actions are unknown.
func (m *mentions) started(s *story.Story, n canon.Node) {
	const line = "system/task_started"
	kind, call := n.Member("task_type"), n.Member("tool_use_id")
	agent, task := s.Name(n.Member("subagent_type")), s.Name(n.Member("task_id"))
	if task == "" {
		s.Ignored(line)
		return
	}
	m.tasks.Add(s, task)

	// A separate line records the call.
	switch {
	case agent != "" || kind.String() == "local_agent":
		h := s.Handoff(task, "")
		h.Agent = cmp.Or(h.Agent, agent)
		if c := s.Known(s.Name(call)); c != nil {
			c.HandedTo = task
		}
		if !event.Absent(call) {
			s.Mention(s.Name(call), line, false)
		}
	case kind.String() == "local_bash":
		s.Mention(s.Name(call), line, false)
	default:
		s.Unknown(line+"/", kind)
	}
}

// runs reads the state of a task. If no line records that the task began, the task may perform any
// action.
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
