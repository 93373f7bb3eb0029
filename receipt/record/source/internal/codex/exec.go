package codex

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
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

// A line is what a line of codex exec says, without its texts: it can wait until it is known
// whether it is a copy.
type line struct {
	sum    canon.Digest // of the line
	kind   string
	thread string
	usage  usage
	took   bool // it tells a usage
	item   item
}

// An item is a step of a turn.
type item struct {
	kind, id, tool, server string
	input, output          canon.Digest
	outcome                story.Outcome
	writes                 []story.Write
	unclear                bool     // the changes of files cannot be read
	threads                []string // of the agents that were given work
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

	if words := n.Member(input); words.Kind() != canon.KindString || len(words.Text()) > 0 { // a search that begins has none yet
		i.input = s.Digest(words)
	}
	i.outcome = stateOf(n, line)
	if i.outcome != story.Open {
		i.output = s.Digest(outputOf(n))
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

// nameOf is a text that may be a name. One that is too long stays too long, and is not kept.
func nameOf(n canon.Node) string {
	text := n.Text()
	return string(text[:min(len(text), event.MaxText+1)])
}

// outputOf is what a call returned.
func outputOf(n canon.Node) canon.Node {
	for _, name := range []string{"aggregated_output", "result", "error", "stdout"} {
		if out := either(n, name); !out.IsZero() && out.Kind() != canon.KindNull {
			return out
		}
	}
	return canon.Node{}
}

// stateOf is how a call ended.
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
	if strings.HasSuffix(line, "completed") {
		return story.Unreported
	}
	return story.Open
}

// writesOf are the changes of files that an item names.
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

// Runs are those of which the lines were read: from the one that names the thread, or from
// the first of a log, to the next such. A run that begins as another one did waits: it may
// be the same, told again by a copy of the log, or by one of an earlier time. As soon as it
// says something else it is told.
type runs struct {
	exec    *Exec                   // tells lines
	log     int                     // that is read
	known   map[beginning]struct{}  // of the runs that were told
	ends    map[beginning]condition // of those, the ones that are whole runs
	now     beginning               // of the run that is read
	waits   bool
	waiting []*line
}

// A beginning is some lines, the first, of a run: a digest of them all, half of one, which
// is enough to tell them from others. The zero beginning has none.
type beginning [sha256.Size / 2]byte

// after is the beginning with one line more.
func (b beginning) after(line canon.Digest) (next beginning) {
	sum := sha256.Sum256(append(b[:], line[:]...))
	copy(next[:], sum[:])
	return next
}

// A condition is the turn that a line is of, and the state of that.
type condition struct {
	turn  int
	state string
}

// lineCost is about what a line takes in known.
const lineCost = 40

// take tells a line, unless it waits.
func (r *runs) take(l *line) {
	if log := len(r.exec.s.Logs); l.kind == "thread.started" || r.log != log {
		r.settle()
		r.log, r.now, r.waits = log, beginning{}, true
	}
	if !r.waits {
		r.goOn(l)
		return
	}

	next := r.now.after(l.sum)
	if _, have := r.known[next]; have {
		r.now, r.waiting = next, append(r.waiting, l)
		return
	}

	// It has all lines of another and more of them, or else it is a run of its own.
	waiting := r.waiting
	if end, whole := r.ends[r.now]; whole {
		r.copied()
		r.exec.turn, r.exec.state = end.turn, end.state
	} else {
		r.now = beginning{}
		for _, w := range waiting {
			r.goOn(w)
		}
	}
	r.waiting, r.waits = nil, false
	r.goOn(l)
}

// goOn tells a line of the run that is read.
func (r *runs) goOn(l *line) {
	r.exec.tell(l)
	if r.known == nil {
		r.known, r.ends = map[beginning]struct{}{}, map[beginning]condition{}
	}

	delete(r.ends, r.now)
	r.now = r.now.after(l.sum)
	if _, have := r.known[r.now]; !have {
		r.known[r.now] = struct{}{}
		r.exec.s.Keep(lineCost)
	}
	r.ends[r.now] = condition{r.exec.turn, r.exec.state}
}

// settle ends a run. What waits yet was told by another one; a turn in it that has no end
// may be open, all the same.
func (r *runs) settle() {
	if len(r.waiting) == 0 {
		return
	}
	r.copied()
	open := false
	for _, l := range r.waiting {
		if strings.HasPrefix(l.kind, "turn.") {
			open = l.kind == "turn.started"
		}
	}
	if open {
		r.exec.state = "started"
	}
	r.waiting, r.waits = nil, false
}

// copied notes that the lines which wait are copies. A turn that tells what it took is known
// by that: the next one of its thread reads all of it again, and takes more. Without that
// the lines may be of a run that began in the same way, and was ended.
func (r *runs) copied() {
	r.exec.s.Note("runs_told_again")
	if !slices.ContainsFunc(r.waiting, func(l *line) bool { return l.took }) {
		r.exec.s.Lacks(story.PartMissing)
	}
}
