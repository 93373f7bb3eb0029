package record

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A transition lists the states that may follow a state of a task.
type transition struct {
	From string // "" before the first event
	To   []string
}

// transitions returns the states of a task according to the protocol. COMPLETED, FAILED, and
// CANCELED are terminal.
func transitions() []transition {
	return []transition{
		{"", []string{"SUBMITTED", "WORKING", "CANCELED", "FAILED"}},
		{"SUBMITTED", []string{"WORKING", "CANCELED", "FAILED"}},
		{"WORKING", []string{"INPUT_REQUIRED", "AUTH_REQUIRED", "COMPLETED", "FAILED", "CANCELED"}},
		{"INPUT_REQUIRED", []string{"WORKING", "FAILED", "CANCELED"}},
		{"AUTH_REQUIRED", []string{"WORKING", "FAILED", "CANCELED"}},
	}
}

// endings maps the terminal states of a task to states in a receipt.
func endings() event.Words {
	return event.NewWords("COMPLETED", receipt.StateSucceeded, "FAILED", receipt.StateFailed, "CANCELED", receipt.StateCanceled)
}

// A life contains the state, the times, and the end of a task.
type life struct {
	again bool // the task is the source of a replay; see newSource

	state                   string // state of the task, as spelled in the protocol
	created, started, ended time.Time
	final                   string // state for the receipt; "" until the task has ended
	failure                 failure
	canceledBy, cancelWhy   string

	startTier, tier string
	limit           *receipt.Amounts
	clock           []Dependency // the times above with their events
}

// read records an event that contains a time of the task.
func (l *life) read(e *event.Event, label string) {
	at := e.Root.Member("created_at")
	told := answerOf(e, at)
	l.clock = append(l.clock, Dependency{Key: "time:" + label, Kind: KindTime, EventID: told.event, Index: told.index, Pointer: told.pointer, SHA256: event.HashOf(at)})
}

// become changes the task's state. Setting the same state again is not a change, because
// task.status_changed may accompany the event that records the change.
func (l *life) become(e *event.Event, state string) {
	if state == l.state || l.again { // repeated events may begin in any state
		return
	}
	for _, t := range transitions() {
		if t.From != l.state {
			continue
		}
		if !slices.Contains(t.To, state) {
			from := l.state
			if from == "" {
				from = "the beginning"
			}
			e.Fail(event.CodeTransition, e.Root.Member("event"), "a task goes from %s to %s, not to %s", from, strings.Join(t.To, ", "), event.Quote(state))
		}
		l.state = state
		return
	}
}

// setTier records the tier that a task event contains.
func (l *life) setTier(e *event.Event) {
	tier := e.Text(e.Payload, "autonomy_tier")
	if tier == "" {
		return
	}
	if !slices.Contains(tiers(), tier) {
		e.Fail(event.CodePayload, e.Payload.Member("autonomy_tier"), "expected one of %s", strings.Join(tiers(), ", "))
	}

	// The submission contains the tier at the start. If the submission contains no tier, the first
	// tier that an event records is used.
	if l.startTier == "" || e.Kind == "task.submitted" {
		l.startTier = tier
	}
	l.tier = tier
}

func submitted(r *run, e *event.Event) {
	if r.become(e, "SUBMITTED"); !r.created.IsZero() && !r.again {
		e.Fail(event.CodeTransition, e.Root.Member("event"), "a task is submitted once, and this one was before")
	}
	r.setTier(e)
	r.created = e.At
	r.read(e, "created_at")

	// The first name is kept, and a different name is listed as a contradiction.
	p := e.Payload
	r.ids.identify("/identifiers/workspace_ref", &r.ids.WorkspaceRef, e.Text(p, "workspace_ref"))
	r.ids.identify("/identifiers/tenant_id", &r.ids.TenantID, e.Text(p, "tenant_id"))
	first(&r.ids.PersonaRef, e.Text(p, "persona_ref"))
	first(&r.ids.PersonaRef, e.Text(p, "persona_id"))
	first(&r.ids.BranchID, e.Text(p, "branch_id"))
	first(&r.ids.TraceID, e.Text(p, "trace_id"))
	first(&r.ids.policy, e.Text(p, "policy_ref"))

	if b := p.Member("autonomy_budget"); !event.Absent(b) {
		r.limit = amounts(e, b)
	}
	if m := p.Member("model_route"); !event.Absent(m) {
		r.models.take(r, e, m)
	}
}

// amounts reads a budget.
func amounts(e *event.Event, n canon.Node) *receipt.Amounts {
	a := &receipt.Amounts{
		InputTokens: e.OptionalCount(n, "input_tokens"), OutputTokens: e.OptionalCount(n, "output_tokens"),
		ToolCalls: e.OptionalCount(n, "tool_calls"), WallTimeMS: e.OptionalCount(n, "wall_time_ms"),
	}
	if m, _ := e.Money(n, "usd"); m != nil {
		usd := m.Float()
		a.USD = &usd
	}
	return a
}

func started(r *run, e *event.Event) {
	r.become(e, "WORKING")
	r.setTier(e)
	r.start(e)
}

func waitsForInput(r *run, e *event.Event) { r.become(e, "INPUT_REQUIRED"); r.setTier(e) }
func waitsForAuth(r *run, e *event.Event)  { r.become(e, "AUTH_REQUIRED"); r.setTier(e) }

// statusChanged applies a transition that has no specific kind of event, such as from
// INPUT_REQUIRED to WORKING. The terminal states have their own kinds of events, which end the
// task.
func statusChanged(r *run, e *event.Event) {
	state := e.Required(e.Payload, "status")
	r.setTier(e)
	if endings().Has(state) {
		return
	}
	r.become(e, state)
	if state == "WORKING" {
		r.start(e)
	}
}

// start records the time at which work on the task started.
func (l *life) start(e *event.Event) {
	if l.started.IsZero() {
		l.started = e.At
		l.read(e, "started_at")
	}
}

// ended returns the function that applies a terminal event.
func ended(state string) func(*run, *event.Event) {
	return func(r *run, e *event.Event) {
		r.become(e, state)
		r.setTier(e)
		r.ended = e.At
		r.read(e, "completed_at")
		r.final = endings().Meaning(state, "")

		// Only a failure has details, and only a cancellation has an actor and a reason.
		switch state {
		case "FAILED":
			r.failure.take(r.Budget, e)
		case "CANCELED":
			first(&r.canceledBy, e.Actor())
			first(&r.cancelWhy, e.Words(e.Payload, "reason"))
		}
	}
}

func cancelRequested(r *run, e *event.Event) {
	first(&r.canceledBy, e.Actor())
	first(&r.cancelWhy, e.Words(e.Payload, "reason"))
}

// hidden returns the names of the members in which providers and harnesses store the reasoning of a
// model. A draft never contains these members.
func hidden() []string {
	return []string{
		"thinking", "redacted_thinking", "thoughts", "reasoning", "reasoning_content", "reasoning_details",
		"private_reasoning", "chain_of_thought", "encrypted_content",
	}
}

// isThought reports whether a value is a content block of hidden reasoning.
func isThought(n canon.Node) bool {
	return slices.Contains(hidden(), n.Member("type").String()) || n.Member("sessionUpdate").String() == "agent_thought_chunk"
}

// A failure contains the details of the task's failure, without the reasoning of a model.
type failure struct {
	object   receipt.Object
	withheld []string // JSON Pointers to the reasoning in the recorded failure
}

// take records the failure, which is an open object, and omits any reasoning in it.
func (f *failure) take(b *event.Budget, e *event.Event) {
	n := e.Payload.Member("failure")
	if event.Absent(n) {
		return
	}
	if size := len(n.AppendCanonical(nil)); size > event.MaxFailure {
		e.Exceed("MaxFailure", n, size)
		return
	}

	value, _ := f.without(b, e, "/lifecycle/failure", 1, n).(map[string]any)
	f.object = receipt.Object(value)
}

// without converts a value for an open object in the draft, and removes hidden reasoning. The
// parameter at is the location of the value in the draft. Removed array elements become null, so
// that indexes do not change.
func (f *failure) without(b *event.Budget, e *event.Event, at string, depth int, n canon.Node) any {
	if depth > event.MaxFailureDepth {
		e.Exceed(event.LimitDepth, n, depth)
		return nil
	}
	if isThought(n) {
		f.withhold(b, e, at)
		return nil
	}

	// A member is removed, but an element is replaced with null.
	switch n.Kind() {
	case canon.KindObject:
		o := map[string]any{}
		for name, value := range n.Members() {
			below := string(canon.AppendToken([]byte(at), name.String()))
			if slices.Contains(hidden(), name.String()) {
				f.withhold(b, e, below)
				continue
			}
			o[name.String()] = f.without(b, e, below, depth+1, value)
		}
		return o
	case canon.KindArray:
		a := []any{}
		for i, value := range n.Elements() {
			a = append(a, f.without(b, e, indexed(at, i), depth+1, value))
		}
		return a
	}

	return scalar(n)
}

// withhold records the location of hidden reasoning.
func (f *failure) withhold(b *event.Budget, e *event.Event, at string) {
	f.withheld = append(f.withheld, at)
	b.Charge(e, e.Payload, len(at))
	b.Part(e)
}

// scalar converts a value that is not an object or an array. An integer that a receipt cannot
// represent as a number becomes a string.
func scalar(n canon.Node) any {
	switch n.Kind() {
	case canon.KindString:
		return n.String()
	case canon.KindNumber:
		if f := n.Float(); f != math.Trunc(f) || math.Abs(f) <= event.MaxTokens {
			return f
		}
		return string(n.AppendCanonical(nil))
	case canon.KindBool:
		return n.Bool()
	}
	return nil
}
