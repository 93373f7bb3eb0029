package claude

import (
	"cmp"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// A Stream reads the output of claude -p with --output-format stream-json. The output contains
// runs, from system/init to result, of one or more sessions.
type Stream struct {
	s         *story.Story
	sessions  []*session
	byID      map[string]*session
	latest    *session  // of the latest line
	lastly    string    // the subtype of the latest result; "" while a run is open
	end       story.End // of the latest result
	wall      int64
	counted   bool                  // a result contains the duration of its run
	unclocked bool                  // a result does not contain the duration of its run
	results   map[canon.Digest]bool // that were read
	mentions
}

// NewStream returns a reader of streams.
func NewStream(s *story.Story) story.Reader {
	s.Partly = true // few lines record a time
	return &Stream{s: s, byID: map[string]*session{}, results: map[canon.Digest]bool{}}
}

// IsStream reports whether a line belongs to a stream.
func IsStream(n canon.Node) bool {
	if n.Member("session_id").Kind() != canon.KindString || !n.Member("sessionId").IsZero() {
		return false
	}
	switch n.Member("type").String() {
	case "system", "assistant", "user", "result", "stream_event", "rate_limit_event":
		return true
	}
	return false
}

// LooksLikeArray reports whether text without leading whitespace begins like an array of stream
// lines, which claude-code-action writes. Any type of line may come first.
func LooksLikeArray(text string) bool {
	if !strings.HasPrefix(text, "[{") || !strings.Contains(text, `"session_id":"`) {
		return false
	}

	for _, kind := range []string{"system", "assistant", "user", "result"} {
		if strings.Contains(text, `"type":"`+kind+`"`) {
			return true
		}
	}
	return false
}

// of returns the session that is named in a line. A line without a session belongs to the session
// of the previous line. If the first lines have no session, they belong to the first session that
// is named.
func (t *Stream) of(n canon.Node) *session {
	id := t.s.Name(n.Member("session_id"))
	if id == "" && t.latest != nil {
		return t.latest
	}
	x := t.byID[id]

	// Earlier lines without a session belong to the first session that is named.
	if first := t.byID[""]; x == nil && first != nil {
		delete(t.byID, "")
		x, first.id, t.byID[id] = first, id, first
		t.s.Own(id)
	}
	if x == nil {
		x = &session{id: id, settled: map[string]bool{}}
		t.byID[id] = x
		if id != "" && len(t.sessions) == 0 {
			t.s.Own(id)
		}
		if t.sessions = append(t.sessions, x); len(t.sessions) > event.MaxEntries {
			t.s.Fail(event.OverLimit(len(t.sessions), "MaxEntries", int64(len(t.sessions))))
		}
	}
	t.latest = x
	return x
}

// Line reads a line.
func (t *Stream) Line(n canon.Node) {
	s, kind := t.s, n.Member("type")
	s.Stamped(n.Member("timestamp"))
	if id := s.Name(n.Member("session_id")); id != "" && len(t.sessions) > 0 && t.byID[id] == nil {
		s.Another(id)
	}

	switch kind.String() {
	case "system":
		t.system(n)
	case "assistant":
		t.lastly = ""
		sound(s, "assistant", n.Member("message"))
		t.assistant(n, t.of(n))
	case "user":
		t.lastly = ""
		sound(s, "user", n.Member("message"))
		answers(s, n, n.Member("tool_use_result"))
	case "result":
		t.result(n, t.of(n))
	case "stream_event":
		t.part(s, n)
	case "tool_progress":
		s.Mention(s.Name(n.Member("tool_use_id")), kind.String(), false)
	default:
		s.Unless(harmless()["stream"], "", kind)
	}
}

func (t *Stream) system(n canon.Node) {
	s, sub := t.s, n.Member("subtype")
	switch sub.String() {
	case "init":
		x := t.of(n)
		x.model = cmp.Or(s.Name(n.Member("model")), x.model)
		s.Model = cmp.Or(s.Model, x.model)
		s.Version(s.Name(n.Member("claude_code_version")))
		s.Tier(tierOf(n.Member("permissionMode").String()))
		s.Workspace = cmp.Or(s.Workspace, s.Name(n.Member("cwd")))
		t.lastly = ""
	case "task_started":
		t.started(s, n)
	case "task_notification", "task_updated", "task_progress":
		t.runs(s, n, sub.String())
	case "hook_started":
		s.Hooks("started", cmp.Or(s.Name(n.Member("hook_name")), s.Name(n.Member("hook_event"))), 1, cmp.Or(s.Name(n.Member("hook_id")), s.Name(n.Member("uuid"))))
	default:
		s.Unless(harmless()["stream system"], "system/", sub)
	}
}

// assistant stores the usage of a message, in case no result covers the message.
func (t *Stream) assistant(n canon.Node, x *session) {
	s, message := t.s, n.Member("message")
	agent := s.Name(n.Member("parent_tool_use_id"))
	calls(s, message, agent)
	model := s.Name(message.Member("model"))
	if model == synthetic {
		s.Note("synthetic_messages")
		return
	}

	id := s.Name(message.Member("id"))
	if id == "" {
		x.nameless = true
	}
	if id == "" || x.settled[id] {
		return
	}
	m := said{id, model, agent, usageOf(message.Member("usage"))}

	// Each block of a message is in its own line.
	have, fresh := x.open.Entry(id)
	switch {
	case fresh && len(x.open.Order) > event.MaxEntries:
		s.Fail(event.OverLimit(event.MaxEntries, "MaxEntries", event.MaxEntries+1))
	case !fresh && m.usage.Differs(have.usage):
		s.Lacks(story.MessagesOfOneID)
	}
	if fresh || m.usage.More(have.usage) {
		*have = m
	}
}

// result reads the usage at the end of a run.
func (t *Stream) result(n canon.Node, x *session) {
	s := t.s
	t.lastly, t.end = cmp.Or(s.Name(n.Member("subtype")), "result"), endOf(n)
	id := event.HashOf(n) // a copy has the same hash
	if t.results[id] {
		s.Note("repeated_accounts")
		x.again(s)
		return
	}
	if len(t.results) < maxSettled {
		t.results[id] = true
	}

	// Each result contains the duration of its run, and the cost of the process so far.
	if d := story.Count(n.Member("duration_ms")); d != nil {
		t.wall, t.counted = t.wall+*d, true
	} else {
		t.unclocked = true
	}
	if amount := story.AmountOf(n.Member("total_cost_usd")); amount == "" {
		x.unpriced = x.unpriced || !event.Absent(n.Member("total_cost_usd"))
	} else if less(amount, x.cost) {
		x.less = true
	} else {
		x.cost = amount
	}

	// The denials list calls that a rule or a person refused.
	denials := n.Member("permission_denials")
	if !event.Absent(denials) && denials.Kind() != canon.KindArray {
		s.Lacks(story.GarbledPart)
	}

	for _, d := range denials.Elements() {
		if c := s.Known(s.Name(d.Member("tool_use_id"))); c != nil {
			c.Refused()
		} else {
			s.Lacks(story.DenialWithoutCall)
		}
	}
	t.account(n, x)
}

// endOf determines the outcome of a run from its result. The outcome is unknown if subtype or
// is_error is invalid, unless the result reports an error.
func endOf(n canon.Node) story.End {
	sub, is := n.Member("subtype"), n.Member("is_error")
	switch {
	case is.Bool(), sub.Kind() == canon.KindString && sub.String() != "success":
		return story.EndFailed
	case sub.Kind() != canon.KindString || !isFlag(is):
		return story.EndUnknown
	}
	return story.EndSucceeded
}

// account stores the usage that a result reports for each model. If a result does not list models,
// the usage of the main thread in the result is a lower bound.
func (t *Stream) account(n canon.Node, x *session) {
	x.settle()
	x.ended = true
	if x.less && x.whole {
		return
	}
	var models []modelUse

	for name, u := range n.Member("modelUsage").Members() {
		use := modelUse{t.s.Name(name), usageIn(u, "inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens"), story.AmountOf(u.Member("costUSD"))}
		if use.Told() {
			models = append(models, use)
		} else {
			t.s.Lacks(story.UsageUnread)
		}
	}
	if len(models) > 0 {
		x.models, x.whole, x.told = models, true, true
		return
	}

	// It is unknown whether the usage covers this run or all runs so far. The larger usage is a
	// lower bound in either case.
	if u := n.Member("usage"); u.Kind() == canon.KindObject {
		if use := usageOf(u); use.Told() && (!x.told || use.More(x.usage)) {
			x.usage, x.told = use, true
		}
	}
}

// End records the cost of the runs, and the outcome of the last run.
func (t *Stream) End() {
	s := t.s
	s.Estimated = true
	unanswered(s)
	settle(s, nil)
	priced := true

	// The costs of models are recorded only if every session lists all of its models.
	for _, x := range t.sessions {
		priced = priced && x.priced()
	}

	for _, x := range t.sessions {
		t.tell(x, priced)
	}
	if slices.ContainsFunc(t.sessions, (*session).unpaid) {
		s.Unpaid()
	}

	if t.counted {
		if s.Wall = &t.wall; t.unclocked {
			s.Lacks(story.DurationInPart)
		}
	}

	if t.lastly != "" {
		s.End = t.end
	}
	if s.End == story.EndFailed {
		s.Failure = t.lastly
	}
}

// tell adds the usage of a session. If priced is set, this usage includes the costs of models.
func (t *Stream) tell(x *session, priced bool) {
	s := t.s
	s.Cost(x.cost)
	switch {
	case x.told || !x.ended:
	case slices.ContainsFunc(t.sessions, func(x *session) bool { return x.told }):
		s.Lacks(story.UsageUnread)
	default:
		s.Lacks(story.ModelsUntold)
	}
	less := x.less || x.unlisted()

	for _, m := range slices.SortedFunc(slices.Values(x.models), func(a, b modelUse) int { return strings.Compare(a.model, b.model) }) {
		if !priced {
			m.cost = ""
		}
		m.Floor, m.InputFloor = less, m.InputFloor || less
		s.Took(story.Sum{Model: m.model, Usage: m.Usage, Cost: m.cost})
	}

	// The usage of the main thread does not include the usage of its agents.
	if x.told && !x.whole {
		x.usage.Floor, x.usage.InputFloor = true, true
		s.Took(story.Sum{Model: x.model, Usage: x.usage})
	}

	// If there is no result, the lines record only the usage at the beginning of a message.
	if x.nameless {
		s.Lacks(story.MessageWithoutID)
	}

	for _, m := range x.open.Order {
		message, _ := s.Message(m.id)
		message.Model, message.Agent = m.model, m.agent
		m.usage.Floor = true
		message.Use(m.usage)
	}
}
