package codex

import (
	"cmp"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// An Exec reads what codex exec writes with --json. It tells no times and no model, and few
// of its ids are of one run only: runs that are told again are known by their lines.
type Exec struct {
	s     *story.Story
	turn  int
	state string // of the latest turn: started, completed, failed
	usage *usage // of all turns that tell it

	stepped   bool         // the turn has an item
	completed canon.Digest // the line with which the latest turn was
	untold    bool         // a turn that is complete does not
	runs      runs
}

// NewExec returns a reader of such streams.
func NewExec(s *story.Story) story.Reader {
	x := &Exec{s: s}
	x.runs.exec = x
	return x
}

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
	x.s.Stamped(n.Member("timestamp"))
	x.runs.take(lineOf(x.s, n))
}

// tell tells what a line says.
func (x *Exec) tell(l *line) {
	s := x.s
	switch l.kind {
	case "thread.started":
		if id := story.Joined(s, l.thread); s.Session() == "" {
			s.Own(id)
		} else {
			s.Another(id)
		}
	case "turn.started":
		x.begin()
	case "turn.completed":
		x.complete(l)
	case "turn.failed":
		x.state = "failed"
	case "item.started", "item.updated", "item.completed":
		x.item(l)
	case "error":
		s.Note("errors")
	default:
		s.Ignored(story.Joined(s, l.kind))
	}
}

// begin begins a turn. A line that is told again begins none.
func (x *Exec) begin() {
	if x.state == "started" && !x.stepped {
		x.s.Note("turns_told_again")
		return
	}
	x.turn, x.state, x.stepped = x.turn+1, "started", false
}

// complete ends a turn. Without a turn that is open the line is told again, when it has the
// same words as the one before, or the beginning of the turn is not here.
func (x *Exec) complete(l *line) {
	switch {
	case x.state == "started":
	case l.sum == x.completed:
		x.s.Note("turns_told_again")
		return
	default:
		x.s.Lacks(story.TurnWithoutBeginning)
	}
	x.state, x.completed = "completed", l.sum
	x.took(l)
}

// item tells a step of a turn. Each state of it is told anew.
func (x *Exec) item(l *line) {
	s := x.s
	x.stepped = true
	switch i := &l.item; i.kind {
	case "command_execution", "file_change", "web_search":
		x.call(i, i.kind)
	case "mcp_tool_call", "collab_tool_call":
		x.call(i, cmp.Or(story.Joined(s, i.tool), i.kind))
	case "todo_list", "reasoning", "agent_message", "error":
	default:
		s.Ignored(l.kind + "/" + cmp.Or(story.Joined(s, i.kind), "None"))
	}
}

// call notes a call. An id counts within its turn.
func (x *Exec) call(i *item, tool string) {
	s, id := x.s, story.Joined(x.s, i.id)
	if x.turn == 0 { // the log was cut where it began
		x.turn = 1
		s.Lacks(story.TurnWithoutBeginning)
	}
	if x.turn > 1 && id != "" {
		id = story.Joined(s, fmt.Sprintf("turn_%d/%s", x.turn, id))
	}
	if id == "" {
		s.Lacks(story.CallWithoutID)
		return
	}
	c := s.Call(id)
	if c.Ask(tool, i.input) {
		c.Does, c.Server = does(i.kind), story.Joined(s, i.server)
		if i.kind == "web_search" {
			c.Searched()
		}
	}

	if i.kind == "collab_tool_call" && collabOf(tool) == noCollab {
		s.Lacks(story.HandoffUnclear)
	}
	if i.outcome == story.Open || !c.Close(i.outcome, i.output) {
		return
	}
	if i.outcome == story.Succeeded {
		for _, w := range i.writes {
			c.Wrote(w)
		}
		if i.unclear {
			s.Lacks(story.WriteUnread)
		}
	}
	if len(i.threads) > 0 && collabOf(tool) == handsOver {
		handOver(s, c, "", i.threads...)
	}
}

// took adds what a turn took. A turn that does not tell it makes the sums floors.
func (x *Exec) took(l *line) {
	u := l.usage
	if !l.took {
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
	x.runs.settle()
	s := x.s
	unnamed(s)
	for _, id := range s.Handed() { // what they did is not in the stream
		s.Missing(id)
	}
	if x.usage == nil && x.untold {
		s.Lacks(story.TokensUntold)
	}
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
