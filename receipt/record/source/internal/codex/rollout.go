package codex

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// A Rollout reads the logs that Codex keeps of sessions. The rollouts of a session, of its forks,
// and of the agents that work for it form one task.
type Rollout struct {
	s       *story.Story
	files   files
	log     int // the number of the current log
	reviews int
	review  time.Time // time of the latest review
	deeds   *deeds

	turns   map[string]bool      // by turn that began: whether it has ended
	began   map[string]time.Time // by turn: when it began
	within  map[string]string    // by outer turn whose beginning is not in the log: the inner turn
	shared  bool                 // two turns have the same ID, so it is unknown which of them has ended
	letters int                  // messages between agents
	started int
	over    int
	aborted bool // the latest turn was aborted
}

// NewRollout returns a reader of rollouts.
func NewRollout(s *story.Story) story.Reader {
	return &Rollout{s: s, turns: map[string]bool{}, began: map[string]time.Time{}, within: map[string]string{}, deeds: newDeeds(s)}
}

// IsRollout reports whether a line belongs to a rollout.
func IsRollout(n canon.Node) bool {
	switch n.Member("type").String() {
	case "session_meta", "turn_context", "response_item", "event_msg", "compacted", "token_usage_record", "world_state":
		return n.Member("payload").Kind() == canon.KindObject
	}
	return isBare(n)
}

// isSettings reports whether a line only repeats the settings of the session. Codex also writes such
// a line when it opens a session again, so the line and its time do not belong to the last turn.
func isSettings(n canon.Node) bool {
	return n.Member("type").String() == "event_msg" && n.Member("payload").Member("type").String() == "thread_settings_applied"
}

// file returns the rollout that is being read.
func (r *Rollout) file() *file {
	if n := len(r.s.Logs); n != r.log || len(r.files) == 0 {
		r.log = n
		r.files = append(r.files, new(file))
	}
	return r.files[len(r.files)-1]
}

// Line reads a line.
func (r *Rollout) Line(n canon.Node) {
	s, f := r.s, r.file()
	kind, p := n.Member("type"), n.Member("payload")
	if f.inherits(n) || isSettings(n) {
		return
	}

	s.Stamped(n.Member("timestamp"))
	if !event.Absent(kind) && !event.Absent(p) && event.Absent(n.Member("timestamp")) {
		s.Partly = true
	}

	// Every line of these types has a payload.
	switch kind.String() {
	case "session_meta", "turn_context", "response_item", "event_msg":
		if p.Kind() != canon.KindObject {
			s.Lacks(story.GarbledPart)
		}
	}

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
	case "token_usage_record":
		f.record(p.Member("thread_token_usage"))
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
	case isMark(n) && onlyMark(n):
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
		s.Ignored(cmp.Or(s.Name(kind), s.Name(n.Member("record_type"))))
	}
}

// bareItem reads an item, which usually has no time. If an item has no time, only the start time of
// the session is known.
func (r *Rollout) bareItem(n canon.Node) {
	at := r.s.Stamped(n.Member("timestamp"))
	r.s.Partly = r.s.Partly || at.IsZero()
	r.item(n)
}

// Aside reads a line that precedes the lines of the task, and records only the session and the
// cumulative usage in the line.
func (r *Rollout) Aside(n canon.Node) {
	f, p := r.file(), n.Member("payload")
	if n.Member("type").String() == "session_meta" {
		r.meta(f, p)
		return
	}
	before := file{}
	before.count(p.Member("info"))
	before.record(p.Member("thread_token_usage"))

	for _, u := range slices.Concat(before.counts, before.records) {
		f.before = &u
	}
}

// meta reads the description of a session. A rollout that continues another session also contains
// that session's description; the first description is the rollout's own.
func (r *Rollout) meta(f *file, p canon.Node) {
	s, id := r.s, r.s.Name(p.Member("id"))

	// If the description has no ID, the session may be a fork.
	if id == "" {
		s.Lacks(story.GarbledPart)
	}

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
	fork := p.Member("forked_from_id")
	f.strange = !event.Absent(fork) && fork.Kind() != canon.KindString
	f.start = story.Count(p.Member("subagent_history_start_ordinal"))
	base := p.Member("history_base")
	f.base, f.baseEnd = s.Name(base.Member("thread_id")), story.Count(base.Member("end_ordinal_exclusive"))

	s.Provider = cmp.Or(s.Provider, f.provider)
	s.Workspace = cmp.Or(s.Workspace, s.Name(p.Member("cwd")))
	s.Version(s.Name(p.Member("cli_version")))
	git := p.Member("git")
	s.Commit = cmp.Or(s.Commit, s.Name(git.Member("commit_hash")))
	s.Branch(s.Name(git.Member("branch")))
}

// context reads the settings of a turn, which are repeated for every model call.
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

	// No person is asked if the policy forbids it, or if a program reviews the calls.
	reviewer := p.Member("approvals_reviewer")
	r.deeds.unasked = p.Member("approval_policy").String() == "never" || !event.Absent(reviewer) && reviewer.String() != "user"
	r.deeds.folder = s.Name(p.Member("cwd"))

	sandbox := p.Member("sandbox_policy")
	r.deeds.sandbox = ""
	if name := cmp.Or(s.Name(sandbox.Member("type")), s.Name(sandbox)); name != "" {
		r.deeds.sandbox = story.Joined(s, "sandbox:"+name)
		s.Policy = cmp.Or(s.Policy, r.deeds.sandbox)
	}
	s.Workspace = cmp.Or(s.Workspace, s.Name(p.Member("cwd")))
}

// item reads an item that Codex and the model exchanged.
func (r *Rollout) item(p canon.Node) {
	s, d := r.s, r.deeds
	switch kind := p.Member("type"); kind.String() {
	case "function_call":
		arguments := p.Member("arguments")
		d.ask(p, s.DigestIn(arguments), patchIn(arguments))
	case "custom_tool_call":
		input := p.Member("input")
		d.ask(p, s.Digest(input), patch{changes: story.PatchOf(input.String())})
	case "local_shell_call":
		d.ask(p, s.Digest(p.Member("action")), patch{})
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		d.answer(p)
	case "web_search_call":
		d.searches++
		d.record = kind.String()
		if id := s.Name(p.Member("id")); id != "" {
			d.search(id, "web_search", p)
		}
	// The item is a message from one agent to another.
	case "agent_message":
		r.letters++
		fallthrough
	case "message", "reasoning":
		blocks(s, "response_item/"+kind.String(), p.Member("content"))
	// Codex or the provider searches the list of tools.
	case "tool_search_call", "tool_search_output":
		if where := p.Member("execution"); !event.Absent(where) && where.String() != "client" && where.String() != "server" {
			s.Ignored("response_item/" + kind.String())
		}
	case "ghost_snapshot":
	default:
		s.Unknown("response_item/", kind)
	}
}

// message reads an event that Codex sent to its client.
func (r *Rollout) message(f *file, p canon.Node) {
	s := r.s
	switch kind := p.Member("type"); kind.String() {
	case "item_completed":
		switch typeOf(p.Member("item")) {
		case "EnteredReviewMode":
			r.enterReview()
		case "ExitedReviewMode":
		default:
			items{r.deeds}.step(p)
		}
	case "exec_command_end", "patch_apply_end", "mcp_tool_call_end", "web_search_end":
		r.deeds.ended(kind.String(), p)
	case "token_count":
		f.count(p.Member("info"))
	case "task_started", "turn_started", "task_complete", "turn_complete", "turn_aborted":
		r.deeds.turns(s.Name(p.Member("turn_id")))

		// The turns of agents that work for the session do not end the session.
		if f.id == r.files[0].id {
			r.turn(p, kind.String())
		}
	case "entered_review_mode":
		r.enterReview()
	case "context_compacted":
		s.Note("compactions")
	case "user_message":
		// A fork repeats the line, including its time.
		if words := p.Member("message"); words.Kind() == canon.KindString {
			s.Prompt(s.Now().String()+canon.Sum(words.Text()).String(), words)
		}
	case "agent_message", "agent_reasoning", "exited_review_mode":
	default:
		s.Unknown("event_msg/", kind)
	}
}

// enterReview records that a review began. A copy of the line has the same time.
func (r *Rollout) enterReview() {
	if at := r.s.Now(); at.IsZero() || !at.Equal(r.review) {
		r.reviews, r.review = r.reviews+1, at
		r.s.Handoff("", fmt.Sprint("review_", r.reviews)).Agent = "review"
	}
}

// turn records that a turn began or ended.
func (r *Rollout) turn(p canon.Node, what string) {
	id, over := r.s.Name(p.Member("turn_id")), what != "task_started" && what != "turn_started"
	if over {
		r.aborted = what == "turn_aborted"
	}

	// A review is a turn within the turn that its end names.
	ended, begun := r.turns[id]
	outer := r.s.Name(p.Member("turn_attribution").Member("parent_turn_id"))
	if _, known := r.turns[outer]; !over && !begun && !known && id != "" && outer != "" && len(r.turns) < maxTurns {
		r.within[outer] = id
	}
	if inner := r.within[id]; over && !begun && inner != "" {
		id = inner
		ended, begun = r.turns[id]
	}

	switch {
	// Turns without IDs do not overlap, so they are only counted.
	case id == "" || len(r.turns) >= maxTurns:
		if over {
			r.over = r.started
		} else {
			r.started++
		}
	// A copy of the line has the same time.
	case !over && begun:
		r.shared = r.shared || !r.began[id].Equal(r.s.Now())
	case !over && !begun:
		r.turns[id], r.began[id] = false, r.s.Now()
		r.started++
	case over && begun && !ended:
		r.turns[id] = true
		r.over++
	// The log lacks the beginning of the turn.
	case over && !begun:
		r.turns[id] = true
		r.started, r.over = r.started+1, r.over+1
	}
}

// maxTurns is the maximum number of turns whose IDs are stored.
const maxTurns = 1 << 16

// End records the usage of the sessions, and how the task ended.
func (r *Rollout) End() {
	r.files.tell(r.s)
	r.deeds.unlisted()

	// An agent sent messages, but no line delegated work to an agent.
	if r.letters > 0 && len(r.s.Handed()) == 0 {
		r.s.Lacks(story.PartMissing)
	}

	for _, id := range r.s.Handed() {
		if r.files.byID(id) == nil {
			r.s.Missing(id)
		}
	}

	switch s := r.s; {
	case r.started == 0 || r.over < r.started || r.shared:
	case r.aborted:
		s.End = story.EndCanceled
	default:
		s.End = story.EndSucceeded
	}
}

// Rollouts from the first half of 2025 have no envelopes. Until the summer of 2025, each rollout is
// one object, {"session":{"id","timestamp","instructions"},"items":[…]}. Later rollouts consist of
// lines: a description of the session, followed by items without times, with
// {"record_type":"state"} between them.

// isBare reports whether a line identifies a rollout without envelopes, as its first line, as a
// mark, or as the entire rollout. A single item is not sufficient, because it may come from any
// program that uses the same models.
func isBare(n canon.Node) bool {
	return beginsBare(n) || isMark(n) || isWhole(n)
}

func beginsBare(n canon.Node) bool {
	for _, name := range []string{"type", "record_type", "payload", "event"} {
		if !n.Member(name).IsZero() {
			return false
		}
	}
	return n.Member("id").Kind() == canon.KindString && !story.Stamp(n.Member("timestamp")).IsZero() && !n.Member("instructions").IsZero()
}

func isMark(n canon.Node) bool { return n.Member("record_type").String() == "state" }

// onlyMark reports whether a mark contains nothing except its time.
func onlyMark(n canon.Node) bool {
	for name := range n.Members() {
		switch name.String() {
		case "record_type", "timestamp", "ordinal":
		default:
			return false
		}
	}
	return true
}

func isWhole(n canon.Node) bool {
	return n.Member("items").Kind() == canon.KindArray && n.Member("session").Member("id").Kind() == canon.KindString
}

// Looks reports whether text without leading whitespace begins like a rollout that is a single
// object.
func Looks(text string) bool {
	const timed, named = `{"session":{"timestamp":"`, `{"session":{"id":"`
	return strings.HasPrefix(text, timed) || strings.HasPrefix(text, named) && strings.Contains(text, `,"timestamp":"`)
}

// isItem reports whether items of a type are exchanged between Codex and a model.
func isItem(kind string) bool {
	switch kind {
	case "message", "reasoning", "ghost_snapshot", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
		"local_shell_call", "local_shell_call_output", "web_search_call":
		return true
	}
	return false
}
