package codex

import (
	"cmp"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// Items are the steps of paginated history.
type items struct{ *deeds }

// step takes an item of paginated history. An item repeats a call of the model under the same
// id, or states what the script of a wrapper ran.
func (x items) step(p canon.Node) {
	s, n := x.s, p.Member("item")
	id, kind := s.Name(n.Member("id")), typeOf(n)
	x.record = "item_completed"
	if turn := s.Name(p.Member("turn_id")); turn != "" && turn != x.turn {
		x.turns(turn)
	}
	switch kind {
	case "UserMessage":
		if words := n.Member("content"); !words.IsZero() {
			s.Prompt(id, words)
		}
	case "AgentMessage":
		blocks(s, "item_completed/"+kind, n.Member("content"))
	case "Reasoning", "Plan", "HookPrompt", "ContextCompaction":
	case "CommandExecution":
		x.settle(x.own(id, "command", n.Member("command")), n, x.outcomeOf(n))
	case "FileChange":
		c := x.own(id, "file_change", n.Member("changes"))
		if x.settle(c, n, x.outcomeOf(n)); c != nil {
			x.applied(c, n.Member("changes"))
		}
	case "McpToolCall":
		c := x.own(id, "mcp", n.Member("arguments"))
		of(s, c, n)
		outcome := mcpOutcome(n.Member("result"), n.Member("error"))
		if status := n.Member("status").String(); status == "declined" || status == "failed" {
			outcome = x.outcomeOf(n)
		}
		x.settle(c, n, outcome)
	case "WebSearch":
		x.search(id, "web_search", n)
	case "Extension":
		if name := s.Name(n.Member("kind")); name == "web.search" {
			x.search(id, name, n)
		} else {
			x.settle(x.own(id, cmp.Or(name, "extension"), n.Member("input")), n, x.outcomeOf(n))
		}
	case "DynamicToolCall":
		x.settle(x.own(id, cmp.Or(s.Name(n.Member("tool")), "dynamic_tool"), n.Member("arguments")), n, x.outcomeOf(n))
	case "SubAgentActivity", "CollabAgentToolCall":
		x.delegate(id, kind, n)
	case "ImageView", "ImageGeneration", "MemoryMutation":
		x.make(id, kind, n)
	default:
		s.Ignored("item_completed/" + cmp.Or(s.Name(n.Member("type")), "None"))
	}
}

// typeOf is the type of an item. Rollouts have it in PascalCase, the app server in camelCase.
func typeOf(n canon.Node) string {
	kind := nameOf(n.Member("type"))
	if kind == "" {
		return ""
	}
	return strings.ToUpper(kind[:1]) + kind[1:]
}

// delegate notes work that is given to another agent.
func (x items) delegate(id, kind string, n canon.Node) {
	s := x.s
	tool := "sub_agent_activity"
	if kind == "CollabAgentToolCall" {
		tool = cmp.Or(s.Name(n.Member("tool")), "collab_agent")
	}
	c := x.own(id, tool, n.Member("prompt"))
	if x.settle(c, n, x.outcomeOf(n)); c == nil {
		return
	}

	agent := s.Name(either(n, "agent_path"))
	if kind == "SubAgentActivity" {
		handOver(s, c, agent, nameOf(either(n, "agent_thread_id")))
		return
	}
	switch collabOf(tool) {
	case handsOver:
		handOver(s, c, agent, threadsOf(n)...)
	case noCollab:
		s.Lacks(story.HandoffUnclear)
	}
}

// make notes an item that has no call of the model: an image that was read or made, or a change
// of what the agent remembers.
func (x items) make(id, kind string, n canon.Node) {
	tool := map[string]string{"ImageView": "view_image", "ImageGeneration": "image_generation", "MemoryMutation": "memory_mutation"}[kind]
	input := n.Member("path")
	if input.IsZero() {
		input = either(n, "revised_prompt")
	}
	c := x.own(id, tool, input)
	if x.settle(c, n, x.outcomeOf(n)); c == nil {
		return
	}
	if saved := either(n, "saved_path"); kind == "ImageGeneration" && !event.Absent(saved) && saved.String() != "" && !x.wrote[c.ID] {
		x.wrote[c.ID] = true
		c.Wrote(story.Write{Path: nameOf(saved)})
	}
}
