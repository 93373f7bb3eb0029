package codex

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/story"
)

// An Exec reads what codex exec writes with --json. It tells no times and no model.
type Exec struct {
	s      *story.Story
	turn   int
	state  string // of the latest turn: started, completed, failed
	usage  *usage // of all turns that tell it
	untold bool   // a turn that is complete does not
}

// NewExec returns a reader of such streams.
func NewExec(s *story.Story) *Exec { return &Exec{s: s} }

// IsExec reports a line of a stream.
func IsExec(n canon.Node) bool {
	switch n.Member("type").String() {
	case "thread.started", "turn.started", "turn.completed", "turn.failed":
		return true
	case "item.started", "item.updated", "item.completed":
		return n.Member("item").Kind() == canon.KindObject
	}
	return false
}

// Line takes a line.
func (x *Exec) Line(n canon.Node) {
	s, kind := x.s, n.Member("type")
	s.At(story.Stamp(n.Member("timestamp")))
	switch kind.String() {
	case "thread.started":
		if id := s.Name(n.Member("thread_id")); s.Session() == "" {
			s.Own(id)
		} else {
			s.Another(id)
		}
	case "turn.started":
		x.turn, x.state = x.turn+1, "started"
	case "turn.completed":
		x.state = "completed"
		x.took(n.Member("usage"))
	case "turn.failed":
		x.state = "failed"
	case "item.started", "item.updated", "item.completed":
		x.item(n.Member("item"), kind.String())
	case "error":
		s.Note("errors")
	default:
		s.Ignored(s.Name(kind))
	}
}

// item reads a step of a turn. Each state of it is told anew.
func (x *Exec) item(n canon.Node, line string) {
	s := x.s
	switch kind := n.Member("type").String(); kind {
	case "command_execution":
		x.call(n, kind, kind, n.Member("command"), line)
	case "file_change":
		x.call(n, kind, kind, n.Member("changes"), line)
	case "mcp_tool_call":
		x.call(n, kind, cmp.Or(s.Name(n.Member("tool")), kind), n.Member("arguments"), line)
	case "web_search":
		x.call(n, kind, kind, n.Member("query"), line)
	case "collab_tool_call":
		x.call(n, kind, cmp.Or(s.Name(n.Member("tool")), kind), n.Member("prompt"), line)
	case "todo_list", "reasoning", "agent_message", "error":
	default:
		s.Ignored(line + "/" + cmp.Or(s.Name(n.Member("type")), "None"))
	}
}

// call notes a call. An id counts within its turn.
func (x *Exec) call(n canon.Node, kind, tool string, input canon.Node, line string) {
	s, id := x.s, x.s.Name(n.Member("id"))
	if x.turn == 0 { // the log was cut where it began
		x.turn = 1
		s.Note("turns_without_their_beginning")
		s.Partial()
	}
	if x.turn > 1 && id != "" {
		id = story.Joined(s, fmt.Sprintf("turn_%d/%s", x.turn, id))
	}
	if id == "" {
		s.Nameless()
		return
	}
	c := s.Call(id)
	if c.Ask(s, tool, s.Digest(input)) {
		c.Does, c.Server = does(kind), s.Name(n.Member("server"))
		if kind == "web_search" {
			c.Searched()
		}
	}

	outcome := stateOf(n, line)
	if outcome == story.Open || !c.Close(s, outcome, s.Digest(outputOf(n))) {
		return
	}
	if kind == "file_change" && outcome == story.Succeeded {
		x.changed(c, n.Member("changes"))
	}
}

// outputOf is what a call returned.
func outputOf(n canon.Node) canon.Node {
	for _, name := range []string{"aggregated_output", "result", "error"} {
		if out := n.Member(name); !out.IsZero() && out.Kind() != canon.KindNull {
			return out
		}
	}
	return canon.Node{}
}

// stateOf is how a call ended.
func stateOf(n canon.Node, line string) story.Outcome {
	code, failure := n.Member("exit_code"), n.Member("error")
	switch status := n.Member("status").String(); status {
	case "in_progress":
		return story.Open
	case "failed":
		return story.Failed
	case "declined":
		return story.Denied
	case "completed":
		return outcome(!(code.Kind() == canon.KindNumber && code.Float() != 0) && (failure.IsZero() || failure.Kind() == canon.KindNull))
	}
	if strings.HasSuffix(line, "completed") {
		return story.Unreported
	}
	return story.Open
}

// changed notes the files that a change names.
func (x *Exec) changed(c *story.Call, changes canon.Node) {
	for _, n := range changes.Elements() {
		kind := n.Member("kind")
		w, moved := story.Write{Path: n.Member("path").String()}, kind.Member("move_path").String()
		switch cmp.Or(kind.String(), kind.Member("type").String()) {
		case "add":
			w.Operation = "create"
		case "update":
			if w.Operation = "modify"; moved != "" {
				w.Operation, w.After = "delete", story.Nothing()
				changed(x.s, c, story.Write{Path: moved, Operation: "create"})
			}
		case "delete":
			w.Operation, w.After = "delete", story.Nothing()
		}
		changed(x.s, c, w)
	}
}

// took adds what a turn took. A turn that does not tell it makes the sums floors.
func (x *Exec) took(n canon.Node) {
	u, ok := usageOf(n)
	if !ok {
		x.untold = true
		return
	}
	if x.usage != nil {
		u = x.usage.plus(u)
	}
	x.usage = &u
}

// End tells what the turns took, and how the last one ended.
func (x *Exec) End() {
	s := x.s
	if x.usage != nil { // what a turn took that failed, or that is open, is not told
		s.Took(story.Sum{Usage: x.usage.told(x.untold || x.state == "started" || x.state == "failed")})
	}
	switch x.state {
	case "completed":
		s.End = story.EndSucceeded
	case "failed":
		s.End, s.Failure = story.EndFailed, "turn.failed"
	}
}
