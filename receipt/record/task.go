package record

import (
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// A transition is what a task may become.
type transition struct {
	From string // "" before the first event
	To   []string
}

// transitions returns the life of a task as the protocol has it. COMPLETED,
// FAILED and CANCELED are terminal.
func transitions() []transition {
	return []transition{
		{"", []string{"SUBMITTED", "WORKING", "CANCELED", "FAILED"}},
		{"SUBMITTED", []string{"WORKING", "CANCELED", "FAILED"}},
		{"WORKING", []string{"INPUT_REQUIRED", "AUTH_REQUIRED", "COMPLETED", "FAILED", "CANCELED"}},
		{"INPUT_REQUIRED", []string{"WORKING", "FAILED", "CANCELED"}},
		{"AUTH_REQUIRED", []string{"WORKING", "FAILED", "CANCELED"}},
	}
}

// An ending says which state of a receipt a terminal state of a task is.
type ending struct{ Task, Receipt string }

// endings returns the terminal states. The receipt has the names of outcomes.
func endings() []ending {
	return []ending{
		{"COMPLETED", receipt.StateSucceeded},
		{"FAILED", receipt.StateFailed},
		{"CANCELED", receipt.StateCanceled},
	}
}

// A life is that of the task: its state, its times, its end.
type life struct {
	again bool // it is the source of a replay, told again: see newSource

	state                   string // of the task, as the protocol spells it
	created, started, ended time.Time
	final                   string // state of the receipt, "" until the task has ended
	failure                 failure
	canceledBy, cancelWhy   string

	startTier, tier string
	limit           *receipt.Amounts
	clock           []Dependency // the times above, as events told them
}

// read notes the event from which a time of the task comes.
func (l *life) read(e *event.Event, label string) {
	at := e.Root.Member("created_at")
	told := answerOf(e, at)
	l.clock = append(l.clock, Dependency{Key: "time:" + label, Kind: KindTime, EventID: told.event, Index: told.index, Pointer: told.pointer, SHA256: event.HashOf(at)})
}

// become changes the state of the task. Staying in one is not a change: a
// task.status_changed may accompany the event that says the same.
func (l *life) become(e *event.Event, state string) {
	if state == l.state || l.again { // who tells again may begin anywhere
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

// setTier notes the tier that a task event names.
func (l *life) setTier(e *event.Event) {
	tier := e.Text(e.Payload, "autonomy_tier")
	if tier == "" {
		return
	}
	if !slices.Contains(tiers(), tier) {
		e.Fail(event.CodePayload, e.Payload.Member("autonomy_tier"), "expected one of %s", strings.Join(tiers(), ", "))
	}
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

	// The first line that names something counts; that two names differ is told.
	p := e.Payload
	r.ids.identify("/identifiers/workspace_ref", &r.ids.WorkspaceRef, e.Text(p, "workspace_ref"))
	r.ids.identify("/identifiers/tenant_id", &r.ids.TenantID, e.Text(p, "tenant_id"))
	first(&r.ids.PersonaRef, e.Text(p, "persona_ref"))
	first(&r.ids.PersonaRef, e.Text(p, "persona_id"))
	first(&r.ids.BranchID, e.Text(p, "branch_id"))
	first(&r.ids.TraceID, e.Text(p, "trace_id"))
	first(&r.policy, e.Text(p, "policy_ref"))

	if b := p.Member("autonomy_budget"); !event.Absent(b) {
		r.limit = amounts(e, b)
	}
	if m := p.Member("model_route"); !event.Absent(m) {
		r.models.take(r, e, m)
	}
}

// amounts reads a budget.
func amounts(e *event.Event, n canon.Node) *receipt.Amounts {
	if n.Kind() != canon.KindObject {
		e.Fail(event.CodePayload, n, "expected an object")
		return nil
	}
	a := &receipt.Amounts{
		InputTokens: e.OptionalCount(n, "input_tokens"), OutputTokens: e.OptionalCount(n, "output_tokens"),
		ToolCalls: e.OptionalCount(n, "tool_calls"), WallTimeMS: e.OptionalCount(n, "wall_time_ms"),
	}
	if m, _ := costIn(e, n, "usd"); m != nil {
		usd := m.float()
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

// statusChanged is the state event of a transition that has no kind of its own,
// such as from INPUT_REQUIRED back to WORKING. A terminal state has one, and that
// one ends the task.
func statusChanged(r *run, e *event.Event) {
	state := e.Required(e.Payload, "status")
	r.setTier(e)
	for _, end := range endings() {
		if end.Task == state {
			return
		}
	}
	r.become(e, state)
	if state == "WORKING" {
		r.start(e)
	}
}

// start notes when the task began to be worked on.
func (l *life) start(e *event.Event) {
	if l.started.IsZero() {
		l.started = e.At
		l.read(e, "started_at")
	}
}

// ended returns what applies a terminal event.
func ended(state string) func(*run, *event.Event) {
	return func(r *run, e *event.Event) {
		r.become(e, state)
		r.setTier(e)
		r.ended = e.At
		r.read(e, "completed_at")
		for _, end := range endings() {
			if end.Task == state {
				r.final = end.Receipt
			}
		}

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
