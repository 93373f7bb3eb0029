package story

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// Outcomes of a call. The zero Outcome means that no line records an end.
type Outcome string

const (
	Open       Outcome = ""
	Succeeded  Outcome = "succeeded"
	Failed     Outcome = "failed"
	Canceled   Outcome = "canceled"   // the call was interrupted, or was never executed
	Denied     Outcome = "denied"     // a rule refused the call, or the log does not record who refused it
	Rejected   Outcome = "rejected"   // a person refused the call
	Unreported Outcome = "unreported" // the call returned, but the log does not record how it ended
)

// OutcomeOf returns Succeeded or Failed.
func OutcomeOf(ok bool) Outcome {
	if ok {
		return Succeeded
	}
	return Failed
}

// ServerOf returns the MCP server in a tool name of the form mcp__SERVER__TOOL, or "" for other
// tools.
func ServerOf(tool string) string {
	rest, ok := strings.CutPrefix(tool, "mcp__")
	if server, name, two := strings.Cut(rest, "__"); ok && two && name != "" {
		return server
	}
	return ""
}

// Calls contains the tool calls of a task.
type Calls struct {
	Decided bool // the logs record all approvals, so a call without an approval was not approved

	story    *Story
	list     index[Call]
	mentions map[mention]bool
}

// Known returns the call with the given ID, or nil if no line has requested it yet.
func (x *Calls) Known(id string) *Call {
	if c := x.list.ByID[id]; c != nil && c.requested {
		return c
	}
	return nil
}

// Asked yields the calls that were requested, in line order.
func (x *Calls) Asked() iter.Seq[*Call] {
	return func(yield func(*Call) bool) {
		for _, c := range x.list.Order {
			if c.requested && !yield(c) {
				return
			}
		}
	}
}

// Call returns the call with the given ID, and creates it if necessary.
func (x *Calls) Call(id string) *Call {
	c, fresh := x.list.entry(x.story, id)
	if fresh {
		c.ID, c.story = id, x.story
	}
	return c
}

// Answer records the result of a call. It returns the call if this is its first result, and nil
// otherwise.
func (x *Calls) Answer(id canon.Node, outcome Outcome, output canon.Node) *Call {
	c := x.Answered(id)
	if c == nil || !c.Close(outcome, x.story.Digest(output)) {
		return nil
	}
	return c
}

// Answered returns the call that is named in a result, or nil if no line has requested it.
func (x *Calls) Answered(id canon.Node) *Call {
	c := x.Known(x.story.Name(id))
	if c == nil {
		x.story.Lacks(ResultWithoutCall)
	}
	return c
}

// A mention is a record that refers to a call but does not record the call itself. If no line
// records the call, the call may still have been executed.
type mention struct {
	call, kind string // ID of the call, and type of the record
	ended      bool   // the record indicates that the call returned
}

// Mention registers a record of the given type that refers to a call. The argument ended specifies
// whether the record indicates that the call returned. The record is counted as ignored if the call
// ID is "", if no line contains the call, or if the record indicates that the call returned but no
// line contains its end.
func (x *Calls) Mention(call, kind string, ended bool) {
	switch m := (mention{call, kind, ended}); {
	case call == "":
		x.story.Ignored(kind)
	case !x.mentions[m]:
		if x.mentions == nil {
			x.mentions = map[mention]bool{}
		}
		x.mentions[m] = true
		x.story.Keep(partCost + len(call))
	}
}

// settleMentions counts the mentions of calls that do not appear in any other line.
func (x *Calls) settleMentions() {
	for m := range x.mentions {
		if c := x.Known(m.call); c == nil || m.ended && c.outcome == Open {
			x.story.Ignored(m.kind)
		}
	}
	x.mentions = nil
}

// A Call is one tool call, as described by all lines that name its ID.
type Call struct {
	ID, Tool  string
	Server    string   // of an MCP tool
	Does      string   // the class of the tool: read, edit, execute, fetch, think, or other; "" if unknown
	Agent     string   // label of the calling agent; "" for the main agent
	Duration  *int64   // milliseconds
	Category  string   // of the error
	RanNot    bool     // a line records that the call was never executed
	Doubtful  bool     // the result is a refusal by a person, or text from the tool's server that resembles a refusal
	ExitCode  *int64   // of the command
	Git       []string // Git actions of the call, as recorded in the log
	Flags     []string // how the call was executed: background, sandbox:NAME, sandbox_off_requested
	Hints     Hints    // hints in the text of the command
	Path      string   // path of the file to write, as requested
	Operation string   // requested operation on that file, or ""
	Content   State    // requested content of that file
	Planned   []Write  // requested changes, from a patch
	Handed    string   // the agent to which the call was meant to delegate work
	HandedTo  string   // the ID of that work
	Parent    string   // ID of the call whose script made this call

	story         *Story
	words         request // the tool and the input in the line with the request, regardless of what was executed
	input, output canon.Digest
	asked, ended  Place
	approved      Place // position at which a person allowed the call
	outcome       Outcome
	requested     bool
	settled       bool // the program that executed the call reported its outcome
	writes        []Write
	claimed       []Write // changes that the model requested, if the program wrote other files
	told          bool    // the list of writes is complete
	shared        bool    // another call has the same ID, so later lines may refer to either call
	relayed       bool    // the log of another agent repeats the end; the agent's own log may record more
	hosts         []string
	searched      bool
}

// A request contains the tool and the input in the line that requests a call. An empty tool or a
// zero digest means that the value is not stated.
type request struct {
	tool  string
	input canon.Digest
}

func (r request) fits(x request) bool {
	return (r.tool == x.tool || r.tool == "" || x.tool == "") && (r.input == x.input || r.input.IsZero() || x.input.IsZero())
}

// Ask records that the call was requested, and reports whether this is the first request. A
// repeated request is a copy, unless it requests something different.
func (c *Call) Ask(tool string, input canon.Digest) bool {
	if c.requested {
		if !c.words.fits(request{tool, input}) {
			c.Share()
		}
		c.words = request{cmp.Or(c.words.tool, tool), cmp.Or(c.words.input, input)}
		c.Tool, c.input = cmp.Or(c.Tool, tool), cmp.Or(c.input, input)
		return false
	}

	// The first request determines the position of the call.
	c.requested, c.words, c.Tool, c.input, c.asked = true, request{tool, input}, tool, input, c.story.Here()
	c.story.Keep(len(tool))
	return true
}

// Adopt records that the model requested a call. The call is already known, because it was
// executed. Such a call has no parent.
func (c *Call) Adopt(tool string, input canon.Digest) {
	c.words = request{tool, input}
	if c.Parent = ""; c.Server == "" {
		c.Tool = tool
	}
}

// Share records that another call has the same ID. A later result may belong to either call, so it
// is attributed to neither.
func (c *Call) Share() {
	c.shared = true
	c.story.Lacks(CallsOfOneID)
}

// Close records the result of the call, and reports whether the result was recorded. The first end
// is kept, but an unreported end is replaced by any other end.
//
// A relayed end and its writes are replaced by the end in the agent's own log.
func (c *Call) Close(outcome Outcome, output canon.Digest) bool {
	s := c.story
	if c.shared {
		if c.outcome == Open {
			c.outcome, c.ended = Unreported, s.Here()
		}
		return false
	}

	// The record of the program precedes the result that the model received.
	if c.settled && c.output.IsZero() {
		if c.output = output; c.outcome == Unreported && outcome != Open {
			c.outcome = outcome
		}
		return true
	}

	// Only an unreported or relayed end is replaced.
	switch {
	case c.outcome == Open:
	// The agent's own log takes precedence.
	case s.Relaying:
		return false
	case c.relayed:
		c.writes = nil
	case c.outcome != Unreported:
		s.Note("repeated_results")
		return false
	}
	c.outcome, c.output, c.ended, c.relayed = outcome, output, s.Here(), s.Relaying
	return true
}

// Ran records the outcome that the program reported after it executed the call. The result that the
// program returned to the model does not change this outcome.
func (c *Call) Ran(outcome Outcome) {
	switch {
	case c.shared:
		c.Close(outcome, canon.Digest{})
	case outcome == Open, c.outcome == Rejected && outcome == Denied:
	case outcome == Unreported && c.outcome != Open:
	default:
		c.outcome, c.settled = outcome, true
		if c.ended.IsZero() {
			c.ended = c.story.Here()
		}
	}
}

// Exited records the exit code of the call's command, and returns the outcome that it implies.
func (c *Call) Exited(code int64) Outcome {
	c.ExitCode = &code
	return OutcomeOf(code == 0)
}

// Flag records a word that describes how the call was executed, if the argument on is true.
func (c *Call) Flag(word string, on bool) {
	if on {
		c.Flags = Once(c.Flags, word)
	}
}

// Settle replaces the outcome of a doubtful call with the outcome that the rest of the log shows.
func (c *Call) Settle(outcome Outcome) { c.outcome, c.Doubtful = outcome, false }

// Approve records that a person allowed the call.
func (c *Call) Approve() {
	if c.approved.IsZero() {
		c.approved = c.story.Here()
	}
}

// Refused records that a rule or a person refused the call, regardless of the recorded result.
func (c *Call) Refused() {
	if c.outcome != Rejected && !c.shared {
		c.Settle(Denied)
	}
}

// Ended returns the current outcome of the call.
func (c *Call) Ended() Outcome { return c.outcome }

// ran reports whether the tool may have performed an action.
func (c *Call) ran() bool {
	return !c.RanNot && slices.Contains([]Outcome{Succeeded, Failed, Canceled, Unreported}, c.outcome)
}

// Asked returns the file change that the input of the call requests.
func (c *Call) Asked() Write { return Write{Path: c.Path, Operation: c.Operation, After: c.Content} }

// Wrote adds a file change that the call made. If the path is empty or too long, the list of
// changes is incomplete.
func (c *Call) Wrote(w Write) {
	if w.Path = Joined(c.story, w.Path); w.Path == "" {
		c.story.Lacks(WriteUnread)
		return
	}
	c.writes = append(c.writes, w)
	c.story.Keep(partCost + len(w.Path))
}

// WroteAll records that the list of changes is complete. If the list is empty, the call changed no
// files.
func (c *Call) WroteAll() { c.told = true }

// Claimed records the writes that the model requested, if the program wrote other files.
func (c *Call) Claimed(writes []Write) {
	for _, w := range writes {
		if w.Path = Joined(c.story, w.Path); w.Path != "" {
			c.claimed = append(c.claimed, w)
			c.story.Keep(partCost + len(w.Path))
		}
	}
}

// Reached adds a URL or a host that the call was meant to reach.
func (c *Call) Reached(at string) {
	if at != "" {
		c.hosts = append(c.hosts, at)
		c.story.Keep(partCost + len(at))
	}
}

// Searched records that the call searched the web through a host that does not appear in any line.
func (c *Call) Searched() { c.searched = true }

// ask returns the payload of the event that requests the call.
func (c *Call) ask() event.Members {
	p := event.Members{
		"tool_call_id": c.ID, "name": c.Tool, "kind": c.Does, "server": c.Server, "worker_id": c.Agent, "parent_call_id": c.Parent, "input_sha256": c.input, "flags": c.Flags,
	}
	if h := c.Hints; len(h.Git)+len(h.Tests) > 0 {
		p["read_from_command"] = event.Members{"git": h.Git, "tests": h.Tests}
	}

	return p
}

func (c *Call) approval() event.Members {
	return event.Members{"tool_call_id": c.ID, "decision": "approved", "actor": "user"}
}

// endKind returns the type of the event that ends the call, or "".
func (c *Call) endKind() string {
	switch {
	// A doubtful call may never have been executed.
	case c.Doubtful, c.outcome == Open:
		return ""
	case c.outcome == Rejected:
		return "tool.denied"
	case c.outcome == Failed, c.outcome == Denied:
		return "tool.failed"
	}

	return "tool.completed"
}

// end returns the payload of the event that ends the call.
func (c *Call) end() event.Members {
	p := event.Members{"tool_call_id": c.ID}
	switch c.outcome {
	// The user of the agent refused the call.
	case Rejected:
		p["decision"], p["actor"] = "denied", "user"
		return p
	case Denied:
		p["error_category"] = "permission_denied"
	case Failed:
		p["error_category"] = c.Category
	case Canceled:
		p["error_category"], p["status"] = c.Category, string(c.outcome)
	default:
		p["status"] = string(c.outcome)
	}
	p["output_sha256"], p["duration_ms"], p["exit_code"], p["git_actions"] = c.output, c.Duration, c.ExitCode, c.Git
	if !c.ran() {
		return p
	}

	// Only the writes of successful calls are recorded. Any executed call may have sent a request.
	if c.outcome == Succeeded && (len(c.writes) > 0 || c.told) {
		p["fs_writes"] = list(c.writes, Write.members)
	}

	// No line records the host that a search used.
	hosts := c.hosts
	if c.searched {
		hosts = append(slices.Clip(hosts), "unknown")
	}
	if len(hosts) > 0 {
		p["network_egress"] = list(hosts, func(at string) event.Members {
			return event.Members{"url": at, "announced": c.outcome != Succeeded}
		})
	}

	return p
}

// claim returns the payload with the requested changes, if the call wrote other files.
func (c *Call) claim() event.Members {
	return event.Members{"tool_call_id": c.ID, "status": string(c.outcome), "fs_writes": list(c.claimed, Write.members)}
}
