package claude

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// A Transcript reads the logs that Claude Code writes for a session and for the agents to which the
// session delegated work. A resumed session begins with copies of lines from the previous session.
type Transcript struct {
	s      *story.Story
	main   turns // of the session itself
	side   turns // of agents, which some versions write to the same file
	model  string
	agents map[string]bool // agents that have separate lines
	nested map[string]bool // agents whose messages the session repeats while they work

	compacted int       // number of compactions
	started   story.Set // MCP calls that were executed according to a line; nil if no line records this
}

// turns contains the statements about the end of a session.
type turns struct {
	lines  int
	stop   string      // why the model stopped in its latest line
	spoke  story.Place // the latest line of the model
	ended  story.Place // the latest line that records the end of a turn
	broken story.Place // the latest interruption
	open   story.Place // the latest line that requires an answer from a model
}

// later moves a position forward, regardless of the order of the lines, and reports whether the
// position changed.
func later(p *story.Place, here story.Place) bool {
	if here.Before(*p) {
		return false
	}
	*p = here
	return true
}

// NewTranscript returns a reader of transcripts.
func NewTranscript(s *story.Story) story.Reader {
	return &Transcript{s: s, agents: map[string]bool{}, nested: map[string]bool{}}
}

// IsTranscript reports whether a line belongs to a transcript.
func IsTranscript(n canon.Node) bool {
	switch n.Member("type").String() {
	case "summary":
		return !n.Member("leafUuid").IsZero() || !n.Member("summary").IsZero()
	case "file-history-snapshot":
		return !n.Member("snapshot").IsZero() || !n.Member("messageId").IsZero()
	}
	if n.Member("sessionId").Kind() != canon.KindString || !isRecord(n.Member("type").String()) {
		return false
	}
	message, role := n.Member("message"), n.Member("message").Member("role").String()
	return event.Absent(message) || !message.Member("content").IsZero() && (role == "user" || role == "assistant")
}

// Line reads a line.
func (t *Transcript) Line(n canon.Node) {
	s := t.s
	at := s.Stamped(n.Member("timestamp"))
	if id := s.Name(n.Member("sessionId")); !at.IsZero() {
		s.Names(id)
	}
	s.Version(s.Name(n.Member("version")))
	s.Branch(s.Name(n.Member("gitBranch")))
	s.In(s.Name(n.Member("cwd")))
	agent := s.Name(n.Member("agentId"))

	if agent != "" {
		t.agents[agent] = true
	}

	of := &t.main
	if n.Member("isSidechain").Bool() {
		of, agent = &t.side, cmp.Or(agent, "sidechain")
	}
	of.lines++
	kind := n.Member("type")

	if isStamped(kind.String()) && event.Absent(n.Member("timestamp")) {
		s.Partly = true
	}

	switch kind.String() {
	case "assistant":
		t.assistant(n, of, agent)
	case "user":
		t.user(n, of)
	case "system":
		t.system(n, of)
	case "progress":
		t.progress(n, of)
	case "permission-mode":
		s.Tier(tierOf(cmp.Or(n.Member("permissionMode").String(), n.Member("mode").String())))
	case "pr-link":
		s.Publish("pull_request", s.Name(n.Member("prUrl")), "")
	case "frame-link":
		s.Publish("page", s.Name(n.Member("frameUrl")), "Artifact")
	case "attachment":
		t.attached(n.Member("attachment"), n.Member("uuid"))
	default:
		s.Unless(harmless()["line"], "", kind)
	}
}

// assistant reads a message from a model. A message has one line for each of its blocks.
func (t *Transcript) assistant(n canon.Node, of *turns, agent string) {
	s, message := t.s, n.Member("message")
	if n.Member("isApiErrorMessage").Bool() {
		s.Note("api_errors")
		later(&of.open, s.Here())
	}
	model := s.Name(message.Member("model"))
	if sound(s, "assistant", message); message.Kind() != canon.KindObject {
		return
	}
	if model == synthetic {
		s.Note("synthetic_messages")
	} else {
		t.took(message, agent)
		if later(&of.spoke, s.Here()) {
			of.stop = message.Member("stop_reason").String()
		}
		if of == &t.main && s.Model == "" {
			s.Model = model
		}
		t.model = cmp.Or(t.model, model)
	}
	calls(s, message, agent)
}

// took records the usage of a message, which several lines repeat. If the message has no ID, it is
// unknown which lines belong to it.
func (t *Transcript) took(message canon.Node, agent string) {
	s := t.s
	id := s.Name(message.Member("id"))
	if id == "" {
		s.Lacks(story.MessageWithoutID)
		return
	}
	m, fresh := s.Message(id)
	if fresh {
		m.Model, m.Agent = s.Name(message.Member("model")), agent
	}
	m.Use(usageOf(message.Member("usage")))
	m.Finished = m.Finished || message.Member("stop_reason").Kind() == canon.KindString
}

// user reads a message from a person, or the results of tools.
func (t *Transcript) user(n canon.Node, of *turns) {
	s, message := t.s, n.Member("message")
	s.Tier(tierOf(n.Member("permissionMode").String()))
	sound(s, "user", message)
	if text := message.Member("content"); text.Kind() == canon.KindString && strings.HasPrefix(textOf(message), interrupted) {
		later(&of.broken, s.Here())
	}

	if asks(n, message) {
		later(&of.open, s.Here())
	}
	if of == &t.main && (asks(n, message) || asksBehind(n, message)) {
		s.Prompt(s.Name(n.Member("uuid")), message.Member("content"))
	}

	// An interruption may also be a block of a message.
	for _, b := range contents(message) {
		if b.Member("type").String() == "text" && strings.HasPrefix(b.Member("text").String(), interrupted) {
			later(&of.broken, s.Here())
		}
	}
	answers(s, n, n.Member("toolUseResult"))
}

// asks reports whether a line contains a person's request to a model. Commands that Claude Code
// runs itself are written in tags.
func asks(n, message canon.Node) bool {
	if n.Member("isMeta").Bool() || n.Member("isCompactSummary").Bool() {
		return false
	}

	for _, b := range contents(message) {
		if b.Member("type").String() == "tool_result" {
			return false
		}
	}
	text := strings.TrimSpace(textOf(message))
	return text != "" && !strings.HasPrefix(text, "<") && !strings.HasPrefix(text, interrupted)
}

func (t *Transcript) system(n canon.Node, of *turns) {
	switch sub := n.Member("subtype"); sub.String() {
	case "turn_duration", "stop_hook_summary":
		later(&of.ended, t.s.Here())
		if count := story.Count(n.Member("hookCount")); count != nil && *count > 0 && *count <= maxStopHooks {
			t.s.Hooks("summary", "Stop", int(*count), t.s.Name(n.Member("uuid")))
		}
	case "compact_boundary":
		t.s.Note("compactions")
		t.compacted++
	default:
		t.s.Unless(harmless()["system"], "system/", sub)
	}
}

// maxStopHooks is the maximum number of hooks that a summary can count.
const maxStopHooks = 1 << 10

// attached reads how each hook ended, in versions that write no progress lines.
func (t *Transcript) attached(n, line canon.Node) {
	kind := n.Member("type")
	t.s.Unless(harmless()["attachment"], "attachment/", kind)
	switch kind.String() {
	case "hook_success", "hook_blocking_error", "hook_non_blocking_error", "hook_error_during_execution", "hook_cancelled":
		t.s.Hooks("attachment", hookOf(t.s, n), 1, t.s.Name(line))
		ofCall(t.s, n, n, "attachment/"+kind.String())
	}
}

// ofCall records the call that is named in a line about a running operation. Hooks for events other
// than the use of a tool do not belong to a call, and an agent's messages contain the agent's own
// calls.
func ofCall(s *story.Story, n, told canon.Node, kind string) {
	call, hook := cmp.Or(s.Name(n.Member("parentToolUseID")), s.Name(n.Member("toolUseID"))), told.Member("hookEvent")
	switch {
	case call == "" && kind == "progress/agent_progress":
	case event.Absent(hook), strings.HasSuffix(hook.String(), "ToolUse"):
		s.Mention(call, kind, false)
	}
}

// hookOf returns the name of a hook and its event.
func hookOf(s *story.Story, n canon.Node) string {
	return cmp.Or(s.Name(n.Member("hookName")), s.Name(n.Member("hookEvent")))
}

// progress reads a line that was logged while an operation was running. The messages of an agent
// are also in the agent's own file, with the same IDs.
func (t *Transcript) progress(n canon.Node, of *turns) {
	s, data := t.s, n.Member("data")
	kind := data.Member("type")
	ofCall(s, n, data, "progress/"+cmp.Or(s.Name(kind), "None"))

	switch kind.String() {
	case "hook_progress":
		s.Hooks("progress", hookOf(s, data), 1, s.Name(n.Member("uuid")))

		// Hooks for this event run when a turn ends.
		if data.Member("hookEvent").String() == "Stop" {
			later(&of.ended, s.Here())
		}
	case "agent_progress":
		t.relayed(data)
	case "mcp_progress":
		t.runs(n)
	default:
		s.Unless(harmless()["progress"], "progress/", kind)
	}
}

// relayed reads a message from an agent, which the session repeats while the agent works. The
// agent's own file contains the same IDs.
func (t *Transcript) relayed(data canon.Node) {
	s, told := t.s, data.Member("message")
	agent, message := cmp.Or(s.Name(data.Member("agentId")), "agent"), told.Member("message")
	t.nested[agent] = true

	s.Relaying = true
	defer func() { s.Relaying = false }()
	switch told.Member("type").String() {
	case "assistant":
		if sound(s, "assistant", message) && message.Member("model").String() != synthetic {
			t.took(message, agent)
		}
		calls(s, message, agent)
	case "user":
		sound(s, "user", message)
		answers(s, told, told.Member("toolUseResult"))
	default:
		s.Unknown("progress/agent_progress/", told.Member("type"))
	}
}

// runs records that a call to an MCP tool was passed to its server.
func (t *Transcript) runs(n canon.Node) {
	if t.started == nil {
		t.started = story.Set{}
	}
	data := n.Member("data")
	id := cmp.Or(t.s.Name(n.Member("toolUseID")), t.s.Name(data.Member("toolUseID")))
	if data.Member("status").String() == "started" {
		t.started.Add(t.s, id)
	}
}

// End records how the session ended, and which agents did work that was not read.
func (t *Transcript) End() {
	s, of := t.s, &t.main

	// If no line belongs to the session, the log is from an agent, and the log of its session is
	// missing.
	if of.lines == 0 {
		of = &t.side
		if len(t.agents) == 1 {
			for agent := range t.agents {
				s.Agent = agent
			}
		}
	}
	s.Model = cmp.Or(s.Model, t.model)

	// The end of a turn is the end of the task, unless a person interrupted the turn or a request
	// is unanswered.
	switch {
	case of.spoke.Before(of.broken) && !of.broken.Before(of.ended):
		s.End = story.EndCanceled
	// The last request received no answer, or the answer was an error.
	case of.spoke.Before(of.open):
	case !of.spoke.IsZero() && (of.stop == "end_turn" || of.spoke.Before(of.ended)):
		s.End, s.Inferred = story.EndSucceeded, true
	}

	unanswered(s)
	settle(s, t.started)

	// If no line records the ID of an agent, it is unknown which file is missing.
	if s.Nobodys() && t.side.lines == 0 {
		s.Lacks(story.PartMissing)
	}

	if t.compactionUnread() {
		s.Lacks(story.TokensInPart)
	}

	// An agent without a file may have made calls that were not read.
	for _, agent := range slices.Concat(s.Handed(), slices.Sorted(maps.Keys(t.nested))) {
		switch {
		case t.agents[agent]:
		// The session does not repeat the last message of an agent.
		case t.nested[agent] && s.HasCalls(agent):
			s.Lacks(story.TokensInPart)
		default:
			s.Missing(agent)
		}
	}
}

// compactionUnread reports whether the file of a compaction is absent. A model summarizes the
// session for each compaction, and only the file of the compaction contains the token counts.
func (t *Transcript) compactionUnread() bool {
	read := 0
	for agent := range t.agents {
		if strings.HasPrefix(agent, "acompact-") {
			read++
		}
	}
	return read < t.compacted
}
