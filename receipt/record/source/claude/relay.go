package claude

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/story"
)

// relayed reads a message of an agent that the session repeats while the agent works. The
// agent's own file, if it is read, too, has the same ids.
func (t *Transcript) relayed(data canon.Node) {
	s, told := t.s, data.Member("message")
	agent, message := cmp.Or(s.Name(data.Member("agentId")), "agent"), told.Member("message")
	t.nested[agent] = true

	s.Relaying(true)
	defer s.Relaying(false)
	switch told.Member("type").String() {
	case "assistant":
		if sound(s, message) && message.Member("model").String() != synthetic {
			t.took(message, agent)
		}
		calls(s, message, agent)
	case "user":
		sound(s, message)
		for _, b := range contents(message) {
			if b.Member("type").String() == "tool_result" {
				answer(s, b, told, told.Member("toolUseResult"))
			}
		}
	}
}

// runs notes a call of an MCP tool that was given to its server.
func (t *Transcript) runs(n canon.Node) {
	if t.started == nil {
		t.started = map[string]bool{}
	}
	id := cmp.Or(t.s.Name(n.Member("toolUseID")), t.s.Name(n.Member("data").Member("toolUseID")))
	if n.Member("data").Member("status").String() == "started" && !t.started[id] {
		t.started[id] = true
		t.s.Keep(len(id))
	}
}

// settle judges calls of MCP tools whose results read like a person's refusal. If the log
// states which calls ran, one that did not was refused, and one that did returned words of its
// server. If the log states it of no call, nobody can say.
func settle(s *story.Story, started map[string]bool) {
	for c := range s.Calls() {
		switch {
		case !c.Doubtful || started == nil || c.Ended() != story.Unreported:
		case started[c.ID]:
			c.Settle(story.Failed)
		default:
			c.Settle(story.Rejected)
		}
	}
}
