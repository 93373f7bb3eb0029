package story

import (
	"cmp"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/command"
)

// Outcomes of a call. The zero Outcome is that no line tells an end.
type Outcome string

const (
	Open       Outcome = ""
	Succeeded  Outcome = "succeeded"
	Failed     Outcome = "failed"
	Canceled   Outcome = "canceled"   // it was interrupted while it ran
	Denied     Outcome = "denied"     // a rule refused it, or somebody did and nothing tells who
	Rejected   Outcome = "rejected"   // a person refused it
	Unreported Outcome = "unreported" // it returned, and nothing tells how it ended
)

// A Call is one call of a tool, as all lines that name its id describe it.
type Call struct {
	ID, Tool string
	Server   string        // of an MCP tool
	Does     string        // what such a tool does: read, edit, execute, fetch, think, other; "" is not known
	Agent    string        // label of the agent that called; "" is the main one
	Duration *int64        // milliseconds
	Category string        // of the error
	RanNot   bool          // a line says that it was never run
	Doubtful bool          // its result is a person's refusal, or text of the tool's server that resembles one
	ExitCode *int64        // of the command
	Git      []string      // what it did in git, as the log states it
	Hints    command.Hints // what the text of its command names
	Path     string        // of the file that it was asked to write
	Content  State         // that it was asked to write there
	Handed   string        // the agent to which it was to give work
	HandedTo string        // the id of that work
	Parent   string        // id of the call whose script made this one

	words         request // of the line that asked, whatever ran
	input, output canon.Digest
	asked, ended  Place
	approved      Place // where a person allowed it
	outcome       Outcome
	requested     bool
	settled       bool // the program that ran it states how it ended
	writes        []Write
	claimed       []Write // that the model asked for, where other files were written
	told          bool    // the list of writes is all that it wrote
	shared        bool    // another call has its id: of what follows, nothing states whose it is
	relayed       bool    // another agent's log repeated the end; the agent's own log may state more
	hosts         []string
	searched      bool
}

// Ask notes that the call was asked for, and reports whether no line did before. A line that asks
// again is a copy, unless it asks in other words.
func (c *Call) Ask(s *Story, tool string, input canon.Digest) bool {
	if c.requested {
		if !c.words.fits(request{tool, input}) {
			c.Share(s)
		}
		c.words = request{cmp.Or(c.words.tool, tool), cmp.Or(c.words.input, input)}
		c.Tool, c.input = cmp.Or(c.Tool, tool), cmp.Or(c.input, input)
		return false
	}
	c.requested, c.words, c.Tool, c.input, c.asked = true, request{tool, input}, tool, input, s.mark()
	s.charge(0, len(tool))
	return true
}

// A request is what a line asks for. "" and the zero digest are not told.
type request struct {
	tool  string
	input canon.Digest
}

func (r request) fits(x request) bool {
	return (r.tool == x.tool || r.tool == "" || x.tool == "") && (r.input == x.input || r.input.IsZero() || x.input.IsZero())
}

// Share notes that another call has this ID. A result that follows may be of either call, so that
// it is of neither.
func (c *Call) Share(s *Story) {
	c.shared = true
	s.Lacks(CallsOfOneID)
}

// Close notes what the call returned. The first end counts, but one that tells nothing
// gives way to one that does.
//
// An end that was relayed gives way to that of the agent's own log, with its writes.
func (c *Call) Close(s *Story, outcome Outcome, output canon.Digest) bool {
	if c.shared {
		if c.outcome == Open {
			c.outcome, c.ended = Unreported, s.mark()
		}
		return false
	}
	if c.settled && c.output.IsZero() {
		if c.output = output; c.outcome == Unreported && outcome != Open {
			c.outcome = outcome
		}
		return true
	}
	switch {
	case c.outcome == Open:
	case s.relaying: // the agent's own log comes first
		return false
	case c.relayed:
		c.writes = nil
	case c.outcome != Unreported:
		s.Note("repeated_results")
		return false
	}
	c.outcome, c.output, c.ended, c.relayed = outcome, output, s.mark(), s.relaying
	return true
}

// Settle replaces the outcome of a doubtful call by the one that the rest of the log shows.
func (c *Call) Settle(outcome Outcome) { c.outcome, c.Doubtful = outcome, false }

// Ran notes how the call ended, as the program that ran it states. What it returned to the
// model does not change that.
func (c *Call) Ran(s *Story, outcome Outcome) {
	switch {
	case c.shared:
		c.Close(s, outcome, canon.Digest{})
	case outcome == Open, c.outcome == Rejected && outcome == Denied:
	case outcome == Unreported && c.outcome != Open:
	default:
		c.outcome, c.settled = outcome, true
		if c.ended.IsZero() {
			c.ended = s.mark()
		}
	}
}

// Adopt notes that the model asked for a call that was known from what ran. It has no parent.
func (c *Call) Adopt(tool string, input canon.Digest) {
	c.words = request{tool, input}
	if c.Parent = ""; c.Server == "" {
		c.Tool = tool
	}
}

// Claimed notes the writes that the model asked for, where the program wrote other files.
func (c *Call) Claimed(s *Story, writes []Write) {
	for _, w := range writes {
		if w.Path = Joined(s, w.Path); w.Path != "" {
			c.claimed = append(c.claimed, w)
			s.charge(0, partCost+len(w.Path))
		}
	}
}

// Approve says that a person allowed the call.
func (c *Call) Approve(s *Story) {
	if c.approved.IsZero() {
		c.approved = s.mark()
	}
}

// Refused says that a rule, or somebody, refused the call, whatever it was told to return.
func (c *Call) Refused() {
	if c.outcome != Rejected && !c.shared {
		c.outcome, c.Doubtful = Denied, false
	}
}

// Ended reports the outcome so far.
func (c *Call) Ended() Outcome { return c.outcome }

// ran reports whether the tool may have done something.
func (c *Call) ran() bool {
	return !c.RanNot && (c.outcome == Succeeded || c.outcome == Failed || c.outcome == Canceled || c.outcome == Unreported)
}

// Wrote adds a change of a file by the call.
func (c *Call) Wrote(s *Story, w Write) {
	c.writes = append(c.writes, w)
	s.charge(0, partCost+len(w.Path))
}

// WroteAll says that the changes told are all that the call made: absent ones are none.
func (c *Call) WroteAll() { c.told = true }

// Reached adds a URL or a host that the call was given to reach.
func (c *Call) Reached(s *Story, at string) {
	if at != "" {
		c.hosts = append(c.hosts, at)
		s.charge(0, partCost+len(at))
	}
}

// Searched says that the call searched the web: where, nothing tells.
func (c *Call) Searched() { c.searched = true }

func (c *Call) ask(o *object) {
	o.text("tool_call_id", c.ID)
	o.text("name", c.Tool)
	o.text("kind", c.Does)
	o.text("server", c.Server)
	o.text("worker_id", c.Agent)
	o.text("parent_call_id", c.Parent)
	o.digest("input_sha256", c.input)
	if h := c.Hints; len(h.Git)+len(h.Tests) > 0 {
		o.within("read_from_command", func(o *object) { o.texts("git", h.Git); o.texts("tests", h.Tests) })
	}
}

// endKind is the event that ends the call.
func (c *Call) endKind() string {
	if c.Doubtful { // whether it was made is not known
		return ""
	}
	switch c.outcome {
	case Open:
		return ""
	case Rejected:
		return "tool.denied"
	case Succeeded, Unreported, Canceled:
		return "tool.completed"
	}
	return "tool.failed"
}

func (c *Call) end(o *object) {
	o.text("tool_call_id", c.ID)
	switch c.outcome {
	case Rejected: // the line says who: the user of the agent
		o.text("decision", "denied")
		o.text("actor", "user")
		return
	case Denied:
		o.text("error_category", "permission_denied")
	case Failed:
		o.text("error_category", c.Category)
	case Canceled:
		o.text("error_category", c.Category)
		o.text("status", string(c.outcome))
	default:
		o.text("status", string(c.outcome))
	}
	o.digest("output_sha256", c.output)
	o.count("duration_ms", c.Duration)
	o.count("exit_code", c.ExitCode)
	o.texts("git_actions", c.Git)
	if !c.ran() {
		return
	}

	// A file that a call wrote was written, as far as the call succeeded.
	if c.outcome == Succeeded && (len(c.writes) > 0 || c.told) {
		list(o, "fs_writes", c.writes, writeWrite)
	}
	if n := len(c.hosts); n > 0 || c.searched {
		hosts := c.hosts
		if c.searched {
			hosts = append(slices.Clip(hosts), "unknown")
		}
		list(o, "network_egress", hosts, func(o *object, at string) {
			o.text("url", at)
			o.is("announced", c.outcome != Succeeded)
		})
	}
}

// claim is what the model was told of the call, where it wrote other files than it was asked to.
func (c *Call) claim(o *object) {
	o.text("tool_call_id", c.ID)
	o.text("status", string(c.outcome))
	list(o, "fs_writes", c.claimed, writeWrite)
}

func writeWrite(o *object, w Write) {
	o.text("path", w.Path)
	o.text("operation", w.Operation)
	o.state("before_sha256", w.Before)
	o.state("after_sha256", w.After)
}

func (c *Call) approval(o *object) {
	o.text("tool_call_id", c.ID)
	o.text("decision", "approved")
	o.text("actor", "user")
}
