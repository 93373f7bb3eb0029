package codex

import (
	"cmp"
	"fmt"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/story"
)

// A Rollout reads what Codex keeps of a session. Those of a session and of one that was
// forked from it, or works for it, are one task.
type Rollout struct {
	s       *story.Story
	files   []*file
	log     int // the number of the log that is read
	reviews int
	review  time.Time        // of the latest one
	patches map[string]patch // of calls that are open

	turns   map[string]bool // that began, and whether they are over
	started int
	over    int
	aborted bool // the latest turn was
}

// A file is the rollout of one session.
type file struct {
	id, forkedFrom string
	provider       string
	models         []string
	counts         []usage // so far, each time that one was told
	garbled        bool    // one of them could not be read
	strange        bool    // they may be those of a fork that is none of this session
	eldest         string  // the session that the last that was named was forked from
	before         *usage  // what was taken before the task; nil is not told
}

// NewRollout returns a reader of rollouts.
func NewRollout(s *story.Story) *Rollout {
	return &Rollout{s: s, turns: map[string]bool{}, patches: map[string]patch{}}
}

// IsRollout reports a line of a rollout.
func IsRollout(n canon.Node) bool {
	switch n.Member("type").String() {
	case "session_meta", "turn_context", "response_item", "event_msg", "compacted":
		return n.Member("payload").Kind() == canon.KindObject
	}
	return isBare(n)
}

// file returns the rollout that is read.
func (r *Rollout) file() *file {
	if n := r.s.Logs(); n != r.log || len(r.files) == 0 {
		r.log = n
		r.files = append(r.files, new(file))
	}
	return r.files[len(r.files)-1]
}

// Line takes a line.
func (r *Rollout) Line(n canon.Node) {
	s, f := r.s, r.file()
	s.Stamped(n.Member("timestamp"))
	kind, p := n.Member("type"), n.Member("payload")
	switch kind.String() {
	case "session_meta":
		r.meta(f, p)
	case "turn_context":
		r.context(f, p)
	case "response_item":
		r.item(p)
	case "event_msg":
		r.message(f, p)
	case "compacted":
		s.Note("compactions")
	case "world_state":
	default:
		r.bare(f, n)
	}
}

// bare reads a line without an envelope.
func (r *Rollout) bare(f *file, n canon.Node) {
	s, kind := r.s, n.Member("type")
	switch {
	case beginsBare(n):
		r.meta(f, n)
	case isMark(n):
	case isWhole(n):
		session := n.Member("session")
		s.Stamped(session.Member("timestamp"))
		r.meta(f, session)
		for _, x := range n.Member("items").Elements() {
			r.bareItem(x)
		}
	case event.Absent(n.Member("payload")) && isItem(kind.String()):
		r.bareItem(n)
	default:
		s.Ignored(s.Name(kind))
	}
}

// bareItem reads what has no time of its own, mostly: when the session began is all that is
// told then.
func (r *Rollout) bareItem(n canon.Node) {
	at := r.s.Stamped(n.Member("timestamp"))
	r.s.Partly = r.s.Partly || at.IsZero()
	r.item(n)
}

// Aside takes a line that stands before those of the task: which session it is of, and
// what that took so far.
func (r *Rollout) Aside(n canon.Node) {
	f, p := r.file(), n.Member("payload")
	if n.Member("type").String() == "session_meta" {
		r.meta(f, p)
		return
	}
	before := file{}
	if before.count(p.Member("info")); len(before.counts) > 0 {
		f.before = &before.counts[0]
	}
}

// meta reads what a session is. A rollout that goes on with another has that one's, too:
// the first is its own.
func (r *Rollout) meta(f *file, p canon.Node) {
	s, id := r.s, r.s.Name(p.Member("id"))
	switch {
	case f.id != "":
		s.Another(id)
		f.behind(id, s.Name(p.Member("forked_from_id")))
		return
	case len(r.files) == 1:
		s.Own(id)
	default:
		s.Another(id)
	}

	f.id, f.forkedFrom, f.provider = id, s.Name(p.Member("forked_from_id")), s.Name(p.Member("model_provider"))
	f.eldest = f.forkedFrom
	s.Provider = cmp.Or(s.Provider, f.provider)
	s.Workspace = cmp.Or(s.Workspace, s.Name(p.Member("cwd")))
	s.Version(s.Name(p.Member("cli_version")))
	git := p.Member("git")
	s.Commit = cmp.Or(s.Commit, s.Name(git.Member("commit_hash")))
	s.Branch(s.Name(git.Member("branch")))
}

// behind takes what follows of another session: of the one that was forked, and the one that
// that was forked from. Any other is a session of its own, in a log that somebody put
// together, and where that is a fork, the counts are neither's.
func (f *file) behind(id, forkedFrom string) {
	switch {
	case id == f.eldest:
		f.eldest = forkedFrom
	case id != f.id && forkedFrom != "":
		f.strange = true
	}
}

// context reads under what a turn runs. It is repeated for every call of a model.
func (r *Rollout) context(f *file, p canon.Node) {
	s := r.s
	model := s.Name(p.Member("model"))
	s.Model = cmp.Or(s.Model, model)
	f.models = story.Once(f.models, model)
	switch p.Member("approval_policy").String() {
	case "untrusted", "on-request", "on-failure":
		s.Tier("act_with_approval")
	case "never":
		s.Tier("act_auto")
	}

	sandbox := p.Member("sandbox_policy")
	if name := cmp.Or(s.Name(sandbox.Member("type")), s.Name(sandbox)); s.Policy == "" && name != "" {
		s.Policy = story.Joined(s, "sandbox:"+name)
	}
	s.Workspace = cmp.Or(s.Workspace, s.Name(p.Member("cwd")))
}

// item reads what passed between Codex and the model.
func (r *Rollout) item(p canon.Node) {
	s := r.s
	switch kind := p.Member("type"); kind.String() {
	case "function_call":
		arguments := p.Member("arguments")
		r.ask(p, digestOf(s, arguments), patchIn(arguments))
	case "custom_tool_call":
		input := p.Member("input")
		r.ask(p, s.Digest(input), patchOf(input.String()))
	case "local_shell_call":
		r.ask(p, s.Digest(p.Member("action")), patch{})
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		r.answer(p)
	case "web_search_call": // it has no id, so that no list of calls can name it
		s.Note("web_searches_without_id")
		s.AtLeast("/side_effects/tool_calls", "/side_effects/network_egress", "/autonomy_budget/consumed/tool_calls")
	case "message", "reasoning", "ghost_snapshot", "agent_message", "tool_search_call", "tool_search_output":
	default:
		s.Ignored("response_item/" + cmp.Or(s.Name(kind), "None"))
	}
}

// ask opens a call. What it may need a person for is asked in its arguments, and no answer
// is written down.
func (r *Rollout) ask(p canon.Node, input canon.Digest, told patch) {
	s, id := r.s, r.s.Name(p.Member("call_id"))
	if id == "" {
		s.Nameless()
		return
	}
	c, tool := s.Call(id), s.Name(p.Member("name"))
	if p.Member("type").String() == "local_shell_call" { // the only one without a name
		tool = "local_shell"
	}
	if !c.Ask(s, tool, input) {
		return
	}
	c.Does, c.Server = does(tool), serverOf(tool)
	if tool != "apply_patch" && !told.ofShell {
		return
	}
	switch {
	case len(told.changes) > 0 && s.Exact():
		r.patches[id] = told
	case tool == "apply_patch":
		s.Note("unreadable_patches")
	}
}

// answer closes a call.
func (r *Rollout) answer(p canon.Node) {
	s, id := r.s, r.s.Name(p.Member("call_id"))
	c := s.Known(id)
	if id == "" || c == nil {
		s.Orphan()
		return
	}
	output := p.Member("output")
	outcome := outcomeOf(c.Server, output)
	if c.Close(s, outcome, s.Digest(output)) && outcome == story.Succeeded {
		for _, w := range r.patches[id].changes {
			changed(s, c, w)
		}
	}
	delete(r.patches, id)
}

// message reads what Codex told who watched it.
func (r *Rollout) message(f *file, p canon.Node) {
	s := r.s
	switch kind := p.Member("type"); kind.String() {
	case "token_count":
		f.count(p.Member("info"))
	case "task_started", "turn_started", "task_complete", "turn_complete", "turn_aborted":
		if f.id == r.files[0].id { // turns of sessions that work for the task's do not end it
			r.turn(p, kind.String())
		}
	case "entered_review_mode":
		if at := s.Now(); at.IsZero() || !at.Equal(r.review) { // told again, it is the same
			r.reviews, r.review = r.reviews+1, at
			s.Handoff("", fmt.Sprint("review_", r.reviews)).Agent = "review"
		}
	case "context_compacted":
		s.Note("compactions")
	case "user_message", "agent_message", "agent_reasoning", "exited_review_mode":
	default:
		s.Ignored("event_msg/" + cmp.Or(s.Name(kind), "None"))
	}
}

// turn notes that a turn began, or that it is over.
func (r *Rollout) turn(p canon.Node, what string) {
	id, over := r.s.Name(p.Member("turn_id")), what != "task_started" && what != "turn_started"
	if over {
		r.aborted = what == "turn_aborted"
	}
	ended, begun := r.turns[id]
	switch {
	case id == "" || len(r.turns) >= maxTurns: // they follow each other
		if over {
			r.over = r.started
		} else {
			r.started++
		}
	case !over && !begun:
		r.turns[id] = false
		r.started++
	case over && begun && !ended:
		r.turns[id] = true
		r.over++
	case over && !begun: // the log was cut where it began
		r.turns[id] = true
		r.started, r.over = r.started+1, r.over+1
	}
}

// maxTurns bounds what is kept of turns.
const maxTurns = 1 << 16

// maxCounts bounds the counts that are kept of a session; the last one always is.
const maxCounts = 1 << 18

// count notes what the session took so far. It is told again and again.
func (f *file) count(info canon.Node) {
	total := info.Member("total_token_usage")
	u, ok := usageOf(total)
	if !ok {
		f.garbled = f.garbled || !event.Absent(total) || !event.Absent(info) && info.Kind() != canon.KindObject
		return
	}
	if len(f.counts) == maxCounts {
		f.counts = f.counts[:maxCounts-1]
	}
	f.counts = append(f.counts, u)
}

// End tells what the sessions took, and how the task ended.
func (r *Rollout) End() {
	for _, f := range r.files {
		r.took(f)
	}
	switch s := r.s; {
	case r.started == 0 || r.over < r.started:
	case r.aborted:
		s.End = story.EndCanceled
	default:
		s.End = story.EndSucceeded
	}
}

// took tells the last count of a session. That of a fork began with its parent's, and
// without that nobody can say what it took itself.
func (r *Rollout) took(f *file) {
	s := r.s
	if len(f.counts) == 0 {
		return
	}
	own, part := f.most()
	part = part || f.garbled
	switch {
	case f.strange:
		r.orphan()
		return
	case f.before != nil && own.covers(*f.before):
		own = own.minus(*f.before)
	case f.before != nil: // it began again
		part = true
	case f.forkedFrom != "":
		parent := r.byID(f.forkedFrom)
		if parent == nil || parent == f {
			r.orphan()
			return
		}
		if shared, ok := parent.sharedWith(f); ok {
			own = own.minus(shared)
		}
	}
	if own.input < 0 || own.output < 0 || r.byID(f.id) != f { // told by another file of the session
		return
	}

	model := ""
	if len(f.models) == 1 {
		model = f.models[0]
	}
	s.Took(story.Sum{Model: model, Provider: f.provider, Usage: own.told(part)})
}

// orphan says that nobody can tell what a fork took.
func (r *Rollout) orphan() {
	r.s.Note("forks_without_their_parent")
	r.s.Untold("/autonomy_budget/consumed/input_tokens", "/autonomy_budget/consumed/output_tokens", "/cost/provider_breakdown")
}

// most is the largest count of a session, and whether a later one was smaller: some
// sessions that are resumed begin again, and the largest is what they took at least.
func (f *file) most() (most usage, fell bool) {
	for _, u := range f.counts {
		if u.input < most.input || u.output < most.output {
			fell = true
		}
		if u.more(most) {
			most = u
		}
	}
	return most, fell
}

// byID returns the rollout of a session. Of two the longer one tells all.
func (r *Rollout) byID(id string) (found *file) {
	for _, f := range r.files {
		if f.id == id && (found == nil || len(f.counts) > len(found.counts)) {
			found = f
		}
	}
	return found
}

// sharedWith is the last count that a session has in common with its fork.
func (f *file) sharedWith(fork *file) (last usage, ok bool) {
	for i := range min(len(f.counts), len(fork.counts)) {
		if f.counts[i] != fork.counts[i] {
			break
		}
		last, ok = f.counts[i], true
	}
	return last, ok
}
