package codex

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// A collab is what a tool does with other agents.
type collab byte

const (
	noCollab  collab = iota // of a name that no such tool has
	handsOver               // it gives work to an agent
	manages                 // it waits for agents, lists, or ends them
)

// collabOf says what a tool does with other agents, by its name in snake case or in camelCase,
// with or without the namespace before it.
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

// threadsOf are the agents that an item of such a tool names.
func threadsOf(n canon.Node) (threads []string) {
	for _, x := range either(n, "receiver_thread_ids").Elements() {
		threads = append(threads, nameOf(x))
	}
	for _, name := range []string{"receiver_thread_id", "new_thread_id"} {
		threads = append(threads, nameOf(either(n, name)))
	}
	return slices.DeleteFunc(threads, func(id string) bool { return id == "" })
}

// threadIn is the agent that the output of a function_call names: JSON in a text.
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

// handOver notes that a call gave work to some agents. Without their ids nobody can tell whether
// another line states the same work: what is listed is then a part.
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
	if !known { // what they did is in none of the logs, or nobody can say in which
		s.Lacks(story.PartMissing)
	}
}

// unnamed notes the calls that gave work to agents of which no line tells the id.
func unnamed(s *story.Story) {
	for c := range s.Asked() {
		if c.Server == "" && c.HandedTo == "" && collabOf(c.Tool) == handsOver {
			handOver(s, c, "")
		}
	}
}
