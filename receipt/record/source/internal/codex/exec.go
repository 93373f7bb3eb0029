package codex

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// An Exec reads the output of codex exec --json. The output contains neither times nor models, and
// most of its IDs are unique only within a run, so copies of runs are recognized by comparing
// lines.
type Exec struct {
	s      *story.Story
	thread string
	turn   int
	state  string           // state of the latest turn: started, completed, or failed
	usage  map[string]usage // cumulative usage of each thread, according to its latest turns
	fell   bool             // the usage of a thread did not grow

	stepped   bool         // the turn has an item
	completed canon.Digest // digest of the line that completed the latest turn
	untold    bool         // a completed turn does not contain its usage
	runs      runs
}

// NewExec returns a reader for the output of codex exec --json.
func NewExec(s *story.Story) story.Reader {
	x := &Exec{s: s, usage: map[string]usage{}}
	x.runs.exec = x
	return x
}

// IsExec reports whether a line belongs to the output of codex exec --json.
func IsExec(n canon.Node) bool {
	switch n.Member("type").String() {
	case "thread.started", "turn.started", "turn.completed", "turn.failed":
		return true
	case "item.started", "item.updated", "item.completed":
		return n.Member("item").Kind() == canon.KindObject
	}
	return false
}

// Line reads a line.
func (x *Exec) Line(n canon.Node) {
	x.s.Stamped(n.Member("timestamp"))
	x.runs.take(lineOf(x.s, n))
}

// tell records the statements in a line.
func (x *Exec) tell(l *line) {
	s := x.s
	switch l.kind {
	case "thread.started":
		x.thread = l.thread
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

// begin begins a turn. A repeated line does not begin another turn.
func (x *Exec) begin() {
	if x.state == "started" && !x.stepped {
		x.s.Note("turns_told_again")
		return
	}
	x.turn, x.state, x.stepped = x.turn+1, "started", false
}

// complete ends a turn. If no turn is open, the line is a copy if it equals the line that completed
// the previous turn. Otherwise, the log lacks the beginning of the turn.
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

// item reads a step of a turn. Each state of a step is in its own line.
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

// call records a call. Its ID is unique only within its turn.
func (x *Exec) call(i *item, tool string) {
	s, id := x.s, story.Joined(x.s, i.id)

	// If no turn has begun, the log lacks the beginning of the turn.
	if x.turn == 0 {
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
		c.Does, c.Server, c.Hints = does(i.kind), story.Joined(s, i.server), i.hints
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

	c.ExitCode = i.exit
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

// took records the usage of the thread at the end of a turn, which includes all earlier turns. If a
// turn does not contain the usage, or if the usage did not grow, the sums are lower bounds.
func (x *Exec) took(l *line) {
	before, have := x.usage[x.thread]
	switch grew := l.usage.covers(before) && l.usage.more(before); {
	case !l.took:
		x.untold = true
	case have && !grew:
		x.fell = true
	default:
		if !have {
			x.s.Keep(len(x.thread))
		}
		x.usage[x.thread] = l.usage

		// Turns without a thread may belong to different threads.
		x.fell = x.fell || have && x.thread == ""
	}
}

// End records the usage of the turns, and how the last turn ended.
func (x *Exec) End() {
	x.runs.settle()
	s := x.s
	unnamed(s)

	// The stream does not contain the work of other agents.
	for _, id := range s.Handed() {
		s.Missing(id)
	}

	if len(x.usage) == 0 && x.untold {
		s.Lacks(story.TokensUntold)
	}

	// Failed and open turns do not record their usage.
	var sum *usage
	for _, thread := range slices.Sorted(maps.Keys(x.usage)) {
		u := x.usage[thread]
		if sum != nil {
			u = sum.plus(u)
		}
		sum = &u
	}
	if sum != nil {
		s.Took(story.Sum{Usage: sum.told(x.untold || x.fell || x.state == "started" || x.state == "failed")})
	}

	switch x.state {
	case "completed":
		s.End = story.EndSucceeded
	case "failed":
		s.End, s.Failure = story.EndFailed, "turn.failed"
	}
}

// A line contains the data in one line of codex exec, without prose, so that the line can be stored
// until it is known whether it is a copy.
type line struct {
	sum    canon.Digest // of the line
	kind   string
	thread string
	usage  usage
	took   bool // the line contains usage
	item   item
}

// An item is a step of a turn.
type item struct {
	kind, id, tool, server string
	input, output          canon.Digest
	outcome                story.Outcome
	exit                   *int64
	hints                  story.Hints
	writes                 []story.Write
	unclear                bool     // the file changes cannot be read
	threads                []string // thread IDs of the agents to which work was delegated
}

func lineOf(s *story.Story, n canon.Node) *line {
	l := &line{sum: canon.Sum(n.Raw()), kind: nameOf(n.Member("type")), thread: nameOf(either(n, "thread_id"))}
	l.usage, l.took = usageOf(n.Member("usage"))
	if i := n.Member("item"); i.Kind() == canon.KindObject {
		l.item = itemOf(s, i, l.kind)
	}
	return l
}

func itemOf(s *story.Story, n canon.Node, line string) item {
	i := item{kind: nameOf(n.Member("type")), id: nameOf(n.Member("id")), tool: nameOf(n.Member("tool")), server: nameOf(n.Member("server"))}
	input := map[string]string{
		"command_execution": "command", "file_change": "changes", "mcp_tool_call": "arguments", "web_search": "query", "collab_tool_call": "prompt",
	}[i.kind]
	if input == "" {
		return i
	}

	// A search that has just begun has no query yet.
	if words := n.Member(input); words.Kind() != canon.KindString || len(words.Text()) > 0 {
		i.input = s.Digest(words)
	}
	i.outcome = stateOf(n, line)
	if i.outcome != story.Open {
		i.output = s.Digest(outputOf(n))
	}
	if i.kind == "command_execution" {
		i.exit, i.hints = story.Count(either(n, "exit_code")), story.HintsIn(commandOf(n.Member("command")))
	}
	if i.kind == "file_change" {
		i.writes = writesOf(n.Member("changes"))
		i.unclear = n.Member("changes").Kind() != canon.KindArray
	}
	if i.kind == "collab_tool_call" {
		i.threads = threadsOf(n)
	}

	return i
}

// nameOf returns text that may be used as a name. Text that is too long is truncated, but stays
// long enough to be recognized as too long.
func nameOf(n canon.Node) string {
	text := n.Text()
	return string(text[:min(len(text), event.MaxText+1)])
}

// outputOf returns a call's output.
func outputOf(n canon.Node) canon.Node {
	for _, name := range []string{"aggregated_output", "result", "error", "stdout"} {
		if out := either(n, name); !out.IsZero() && out.Kind() != canon.KindNull {
			return out
		}
	}
	return canon.Node{}
}

// stateOf returns the outcome of a call.
func stateOf(n canon.Node, line string) story.Outcome {
	code, failure := either(n, "exit_code"), n.Member("error")
	switch status := n.Member("status").String(); status {
	case "in_progress":
		return story.Open
	case "failed":
		return story.Failed
	case "declined":
		return story.Denied
	case "completed":
		return story.OutcomeOf(!(code.Kind() == canon.KindNumber && code.Float() != 0) && (failure.IsZero() || failure.Kind() == canon.KindNull))
	}

	// If there is no status, only the type of the line shows that the call returned.
	if strings.HasSuffix(line, "completed") {
		return story.Unreported
	}

	return story.Open
}

// writesOf returns the file changes that an item lists.
func writesOf(changes canon.Node) (list []story.Write) {
	for _, n := range changes.Elements() {
		kind := n.Member("kind")
		w, moved := story.Write{Path: nameOf(n.Member("path"))}, nameOf(either(kind, "move_path"))
		switch cmp.Or(kind.String(), kind.Member("type").String()) {
		case "add":
			w.Operation = "create"
		case "update":
			if w.Operation = "modify"; moved != "" {
				w.Operation, w.After = "delete", story.Nothing()
				list = append(list, story.Write{Path: moved, Operation: "create"})
			}
		case "delete":
			w.Operation, w.After = "delete", story.Nothing()
		}
		list = append(list, w)
	}

	return list
}
