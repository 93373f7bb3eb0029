package codex

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// items reads the steps in paginated history.
type items struct{ *deeds }

// step reads an item in paginated history. An item has the ID of one of the model's calls, or
// records an action that the script of a wrapper performed.
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
	// The other items record calls.
	case "CommandExecution":
		if ofUser(s, n) {
			break
		}
		if c := x.did(id, "command", n.Member("command"), n); c != nil {
			x.runs(c, n.Member("command"))
		}
	case "FileChange":
		x.applied(x.did(id, "file_change", n.Member("changes"), n), n.Member("changes"))
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
			x.did(id, cmp.Or(name, "extension"), n.Member("input"), n)
		}
	case "DynamicToolCall":
		x.did(id, cmp.Or(s.Name(n.Member("tool")), "dynamic_tool"), n.Member("arguments"), n)
	case "SubAgentActivity", "CollabAgentToolCall":
		x.delegate(id, kind, n)
	case "ImageView", "ImageGeneration", "MemoryMutation":
		x.make(id, kind, n)
	default:
		s.Unknown("item_completed/", n.Member("type"))
	}
}

// typeOf returns the type of an item in PascalCase, as in rollouts. The app server uses camelCase.
func typeOf(n canon.Node) string {
	kind := nameOf(n.Member("type"))
	if kind == "" {
		return ""
	}
	return strings.ToUpper(kind[:1]) + kind[1:]
}

// delegate records that work was delegated to another agent.
func (x items) delegate(id, kind string, n canon.Node) {
	s := x.s
	tool := "sub_agent_activity"
	if kind == "CollabAgentToolCall" {
		tool = cmp.Or(s.Name(n.Member("tool")), "collab_agent")
	}
	c := x.did(id, tool, n.Member("prompt"), n)
	if c == nil {
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

// make records an item that does not belong to a call by the model: an image that was read or
// created, or a change to the memory of the agent.
func (x items) make(id, kind string, n canon.Node) {
	tool := map[string]string{"ImageView": "view_image", "ImageGeneration": "image_generation", "MemoryMutation": "memory_mutation"}[kind]
	input := n.Member("path")
	if input.IsZero() {
		input = either(n, "revised_prompt")
	}
	c := x.did(id, tool, input, n)
	if c == nil {
		return
	}

	// An image may be saved to a file, and another record of the item may repeat this.
	if saved := either(n, "saved_path"); kind == "ImageGeneration" && !event.Absent(saved) && saved.String() != "" && !x.wrote[c.ID] {
		x.wrote[c.ID] = true
		c.Wrote(story.Write{Path: nameOf(saved)})
	}
}

// collab describes the effect of a tool on other agents.
type collab byte

const (
	noCollab  collab = iota // the tool has no effect on other agents
	handsOver               // the tool delegates work to an agent
	manages                 // the tool waits for agents, lists them, or ends them
)

// collabOf returns the effect of a tool on other agents, based on the name of the tool in snake
// case or camelCase, with or without a namespace.
func collabOf(tool string) collab {
	name := tool[strings.LastIndexByte(tool, '.')+1:]
	if i := strings.LastIndex(name, "__"); i >= 0 {
		name = name[i+len("__"):]
	}

	switch strings.ToLower(strings.ReplaceAll(name, "_", "")) {
	case "spawn", "spawnagent", "sendinput", "resumeagent", "followuptask", "assigntask", "sendmessage":
		return handsOver
	case "wait", "waitagent", "closeagent", "listagents", "interruptagent":
		return manages
	}
	return noCollab
}

// threadsOf returns the IDs of the agents in an item.
func threadsOf(n canon.Node) (threads []string) {
	for _, x := range either(n, "receiver_thread_ids").Elements() {
		threads = append(threads, nameOf(x))
	}
	for _, name := range []string{"receiver_thread_id", "new_thread_id"} {
		threads = append(threads, nameOf(either(n, name)))
	}
	return slices.DeleteFunc(threads, func(id string) bool { return id == "" })
}

// threadIn returns the ID of the agent that is named in the output of a function_call. The output
// is JSON in a string.
func threadIn(output canon.Node) string {
	if output.Kind() == canon.KindObject {
		output = output.Member("content")
	}
	text := output.Text()
	if !bytes.HasPrefix(text, []byte("{")) {
		return ""
	}
	doc, err := canon.Parse(text)
	if err != nil {
		return ""
	}

	return nameOf(doc.Root().Member("agent_id"))
}

// handOver records that a call delegated work to agents. If no ID of an agent is known, no handoff
// is recorded, and every list is incomplete.
func handOver(s *story.Story, c *story.Call, agent string, threads ...string) {
	switch c.Ended() {
	case story.Failed, story.Rejected, story.Denied:
		return
	}

	known := false
	for _, thread := range threads {
		if thread = story.Joined(s, thread); thread == "" {
			continue
		}
		h := s.Handoff(thread, c.ID)
		h.Agent, c.HandedTo, known = cmp.Or(h.Agent, agent), thread, true
	}

	// The work may be in an unknown log or in no log.
	if !known {
		s.Lacks(story.PartMissing)
	}
}

// unnamed records the calls that delegated work to agents whose IDs do not appear in any line.
func unnamed(s *story.Story) {
	for c := range s.Asked() {
		if c.Server == "" && c.HandedTo == "" && collabOf(c.Tool) == handsOver {
			handOver(s, c, "")
		}
	}
}
