package others

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// copilot reads the session events of Copilot CLI: ~/.copilot/session-state/ID/events.jsonl.
type copilot struct {
	s     *story.Story
	line  int
	ended int // the latest line that ended a turn

	requests  map[string]*request // requested calls that have not started yet
	questions map[string]bool     // whether each permission request has been answered, by request ID
	allowed   bool                // no permission was required at some point
	agents    map[string]string   // names of agents, keyed by the ID of the call that started the agent
	usage
}

// A request is a call that the model requested.
type request struct {
	tool  string
	input canon.Digest
	line  int
}

// NewCopilot returns a reader of events.
func NewCopilot(s *story.Story) story.Reader {
	return &copilot{
		s: s, requests: map[string]*request{}, questions: map[string]bool{}, agents: map[string]string{},
		usage: usage{messages: map[string]*message{}},
	}
}

// copilotTools returns the table of the tools of Copilot CLI.
var copilotTools = sync.OnceValue(func() story.Tools {
	shell := story.Tool{Does: "execute"}
	command := story.Tool{Does: "execute", Command: "command"}
	read, think := story.Tool{Does: "read"}, story.Tool{Does: "think"}
	return story.Tools{
		"bash": command, "powershell": command, "read_bash": shell, "write_bash": shell, "stop_bash": shell, "list_bash": shell,
		"read_powershell": shell, "write_powershell": shell, "stop_powershell": shell, "list_powershell": shell,
		"view": read, "glob": read, "grep": read, "rg": read, "report_intent": think, "update_todo": think, "ask_user": think,
		"create":      {Does: "edit", Path: "path", Content: "file_text"},
		"edit":        {Does: "edit", Path: "path", Operation: "modify"},
		"apply_patch": {Does: "edit"},
		"web_fetch":   {Does: "fetch", URL: "url"},
		"web_search":  {Does: "fetch", Search: true},
	}
})

// harmlessEvents lists the event types that record no action and are not read.
func harmlessEvents() []string {
	return []string{
		"hook.end", "system.message", "system.notification", "session.plan_changed", "session.info", "session.warning", "session.usage_checkpoint",
		"session.compaction_start", "session.compaction_complete", "session.truncation", "skill.invoked",
	}
}

// Line reads an event.
func (r *copilot) Line(n canon.Node) {
	s, kind, data := r.s, n.Member("type"), n.Member("data")
	r.line++
	s.Dated(n.Member("timestamp"))
	if data.Kind() != canon.KindObject {
		s.Lacks(story.GarbledPart)
	}

	switch group, _, _ := strings.Cut(kind.String(), "."); group {
	case "session":
		r.session(n, kind, data)
	case "tool":
		r.tool(kind, data)
	case "permission":
		r.permission(kind, data)
	case "subagent":
		r.subagent(kind, data)
	default:
		r.turn(n, kind, data)
	}
}

// turn reads an event of a turn.
func (r *copilot) turn(n, kind, data canon.Node) {
	s := r.s
	switch kind.String() {
	case "hook.start":
		s.Hooks("start", s.Name(data.Member("hookType")), 1, s.Name(n.Member("id")))
	case "user.message":
		// Messages with a source are instructions from a program.
		if event.Absent(data.Member("source")) {
			s.Prompt(s.Name(n.Member("id")), data.Member("content"))
			s.End = story.EndUnknown
		}
	case "assistant.turn_start":
		s.End = story.EndUnknown
	case "assistant.message":
		r.asks(data)
	case "assistant.turn_end":
		s.End, s.Inferred, r.ended = story.EndSucceeded, true, r.line
	case "abort":
		s.End, s.Inferred, r.ended = story.EndCanceled, false, r.line
	default:
		s.Unless(harmlessEvents(), "", kind)
	}
}

// session reads an event that describes the session.
func (r *copilot) session(n, kind, data canon.Node) {
	s := r.s
	switch kind.String() {
	case "session.start":
		s.Names(s.Name(data.Member("sessionId")))
		s.Version(s.Name(data.Member("copilotVersion")))
		r.model(data.Member("selectedModel"))
		r.context(data.Member("context"))
	case "session.context_changed":
		r.context(data)
		r.context(data.Member("context"))
	case "session.model_change":
		r.model(data.Member("newModel"))
	case "session.resume":
		r.resumed()
	case "session.permissions_changed":
		r.permissions(data)
	case "session.usage_record":
		r.record(s, s.Name(n.Member("id")), data.Member("usage"))
	case "session.shutdown":
		r.shutDown(s, data)
	default:
		s.Unless(harmlessEvents(), "", kind)
	}
}

// model records the choice of a model. If a person leaves the choice to the program, the model name
// in the log is "auto".
func (r *copilot) model(name canon.Node) {
	if model := r.s.Name(name); model != "auto" {
		r.s.Model = cmp.Or(r.s.Model, model)
	}
}

// context reads the directories in which the agent works, the Git branch, and the commit.
func (r *copilot) context(n canon.Node) {
	s := r.s
	for _, name := range []string{"cwd", "gitRoot"} {
		if dir := s.Name(n.Member(name)); dir != "" {
			s.In(dir)
		}
	}
	s.Branch(s.Name(n.Member("branch")))
	s.Commit = cmp.Or(s.Commit, s.Name(n.Member("headCommit")))
}

// permissions reads whether every call is allowed. If so, the log contains no decisions.
func (r *copilot) permissions(data canon.Node) {
	tier := func(allowed canon.Node) {
		switch {
		case allowed.Kind() != canon.KindBool:
			r.allowed = true // unknown
		case allowed.Bool():
			r.allowed = true
			r.s.Tier("act_auto")
		default:
			r.s.Tier("act_with_approval")
		}
	}
	tier(data.Member("previousAllowAllPermissions"))
	tier(data.Member("allowAllPermissions"))
}

// asks reads a model's message and the calls that it requests.
func (r *copilot) asks(data canon.Node) {
	s := r.s
	r.model(data.Member("model"))
	r.said(s, data)

	for x := range s.Objects(data.Member("toolRequests")) {
		id := s.Name(x.Member("toolCallId"))
		if id == "" {
			s.Lacks(story.CallWithoutID)
			continue
		}
		if r.requests[id] == nil && s.Known(id) == nil {
			r.requests[id] = &request{s.Name(x.Member("name")), s.DigestIn(x.Member("arguments")), r.line}
			s.Keep(len(id) + len(r.requests[id].tool))
		}
	}
}

// tool reads a record that the program wrote about a call.
func (r *copilot) tool(kind, data canon.Node) {
	s, id := r.s, data.Member("toolCallId")
	switch kind.String() {
	case "tool.execution_start":
		input := data.Member("arguments")
		c, fresh := copilotTools().Ask(s, id, data.Member("toolName"), input)
		if !fresh {
			return
		}
		delete(r.requests, c.ID)
		c.Parent = s.Name(data.Member("parentToolCallId"))
		c.Agent = r.agents[c.Parent]
		c.Server = cmp.Or(s.Name(data.Member("mcpServerName")), c.Server)
		c.Tool = cmp.Or(s.Name(data.Member("mcpToolName")), c.Tool)
		if c.Tool == "apply_patch" {
			c.Planned = patchIn(s, input)
		}
	case "tool.execution_complete":
		r.complete(data)
	case "tool.user_requested":
		s.Mention(s.Name(id), kind.String(), false)
	default:
		s.Unless(nil, "", kind)
	}
}

// complete reads the result of a call.
func (r *copilot) complete(data canon.Node) {
	s, result := r.s, data.Member("result")
	output := result
	if event.Absent(output) {
		output = data.Member("error")
	}
	id := s.Name(data.Member("toolCallId"))
	if r.requests[id] != nil {
		// The call has a result, so it started, but the line with its start was not read.
		r.call(id)
	}
	outcome := outcomeOf(s.Known(id), data)
	ran(s.Known(id), data.Member("toolTelemetry").Member("properties"))
	c := s.Answer(data.Member("toolCallId"), outcome, output)
	if c == nil || c.Does != "edit" || c.Ended() != story.Succeeded {
		return
	}

	switch c.Tool {
	case "create":
		w := c.Asked()
		if strings.Contains(result.Member("detailedContent").String(), "\ncreate file mode ") {
			w.Operation, w.Before = "create", story.Nothing()
		}
		c.Wrote(w)
	case "edit":
		c.Wrote(story.Write{Path: c.Path, Operation: "modify"})
	case "apply_patch":
		for _, w := range c.Planned {
			c.Wrote(w)
		}
		if len(c.Planned) == 0 {
			s.Lacks(story.WriteUnread)
		}
	}
}

// ran records how a command was executed. In the log, the flags are strings.
func ran(c *story.Call, told canon.Node) {
	if c == nil {
		return
	}
	c.Flag("background", told.Member("detached").String() == "true")
	c.Flag("sandbox_off_requested", told.Member("sandboxOptOutRequested").String() == "true")
	switch told.Member("sandboxApplied").String() {
	case "true":
		c.Flag("sandbox:applied", true)
	case "false":
		c.Flag("sandbox:none", true)
	}
}

// outcomeOf returns the outcome of a call. If the log records the exit code of a command, the exit
// code determines the outcome.
func outcomeOf(c *story.Call, data canon.Node) story.Outcome {
	success, result := data.Member("success"), data.Member("result")
	switch {
	// All versions report success for a successful call.
	case event.Absent(success):
		return story.Failed
	case success.Kind() != canon.KindBool:
		return story.Unreported
	case !success.Bool() && data.Member("error").Member("code").String() == "denied":
		return story.Denied
	case !success.Bool():
		return story.Failed
	case c == nil || c.Does != "execute":
		return story.Succeeded
	}

	for _, exit := range []canon.Node{data.Member("shellExecution").Member("exitCode"), data.Member("toolTelemetry").Member("metrics").Member("exit_code")} {
		if code := story.Count(exit); code != nil {
			return c.Exited(*code)
		}
		// A receipt cannot contain a negative exit code.
		if exit.Kind() == canon.KindNumber {
			return story.Failed
		}
	}
	text := bytes.TrimSpace(result.Member("content").Text())
	last := string(text[bytes.LastIndexByte(text, '\n')+1:])
	if strings.HasPrefix(last, "<command with shellId: ") && strings.Contains(last, " is still running") {
		return story.Unreported
	}
	_, rest, ended := strings.Cut(last, " completed with exit code ")
	if code, err := strconv.ParseInt(strings.TrimSuffix(rest, ">"), 10, 64); ended && strings.HasPrefix(last, "<shellId: ") && err == nil {
		return c.Exited(code)
	}
	return story.Succeeded
}

// patchIn returns the changes in the input of apply_patch, which is a patch or an object that
// contains a patch.
func patchIn(s *story.Story, input canon.Node) []story.Write {
	if s.Inexact {
		return nil
	}
	if in := story.Unquoted(input); in.Kind() == canon.KindObject {
		for _, name := range []string{"patch", "input"} {
			if text := in.Member(name); text.Kind() == canon.KindString {
				return story.PatchOf(text.String())
			}
		}
	}
	return story.PatchOf(input.String())
}

// permission reads a permission request or its answer.
func (r *copilot) permission(kind, data canon.Node) {
	s, id := r.s, r.s.Name(data.Member("requestId"))
	switch kind.String() {
	case "permission.requested":
		if !r.questions[id] { // the answer may precede the request
			r.questions[id] = false
		}
		s.Keep(len(id))
		return
	case "permission.completed":
		r.questions[id] = true
	default:
		s.Unless(nil, "", kind)
		return
	}

	call := s.Name(data.Member("toolCallId"))
	if call == "" {
		s.Lacks(story.OtherDecision)
		return
	}
	// Newer versions record who decided, because a program may give the same answer as a person.
	by := data.Member("decisionSource")
	person := event.Absent(by) || by.String() == "human_response"
	switch c, word := s.Call(call), data.Member("result").Member("kind").String(); {
	case word == "approved", word == "approved-for-location", word == "approved-for-session":
		if person {
			c.Approve()
		}
	case word == "denied-interactively-by-user" && person:
		c.Ran(story.Rejected)
	case strings.HasPrefix(word, "denied-"):
		c.Ran(story.Denied)
	default:
		s.Lacks(story.OtherDecision)
	}
}

// subagent reads a record about an agent that works for this agent. The calls of that agent are in
// the same log.
func (r *copilot) subagent(kind, data canon.Node) {
	s, id, agent := r.s, r.s.Name(data.Member("toolCallId")), r.s.Name(data.Member("agentName"))
	word, ok := strings.CutPrefix(kind.String(), "subagent.")
	if !ok || !slices.Contains([]string{"started", "completed", "failed"}, word) {
		s.Unless([]string{"subagent.configured"}, "", kind)
		return
	}
	if id == "" {
		s.Lacks(story.HandoffUnclear)
		return
	}
	h := s.Handoff(id, "")
	h.Agent = cmp.Or(h.Agent, agent)
	if r.agents[id] = h.Agent; word != "started" {
		h.Status = word
	}
}

// End records information that is known only after the entire log has been read: the calls that
// never started, and the usage.
func (r *copilot) End() {
	s := r.s
	for _, id := range r.notStarted() {
		// After the end of a turn, no more calls of this turn start.
		line := r.requests[id].line
		if c := r.call(id); line < r.ended && s.ReadAll("tool.") {
			c.RanNot, c.Category = c.Close(story.Canceled, canon.Digest{}), "not_started"
		}
	}
	r.tell(s)

	// If a request has no answer, the log is incomplete.
	s.Decided = !r.allowed && s.ReadAll("permission.")
	for _, answered := range r.questions {
		s.Decided = s.Decided && answered
	}
}

// call records the call that a model requested.
func (r *copilot) call(id string) *story.Call {
	c, asked := r.s.Call(id), r.requests[id]
	delete(r.requests, id)
	c.Ask(asked.tool, asked.input)
	c.Does = copilotTools()[c.Tool].Does
	return c
}

// notStarted returns the calls that did not start, in the order of their requests.
func (r *copilot) notStarted() (ids []string) {
	for id := range r.requests {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(r.requests[a].line-r.requests[b].line, strings.Compare(a, b))
	})
	return ids
}
