package record

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
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

// become changes the state of the task. Staying in one is not a change: a
// task.status_changed may accompany the event that says the same.
func (r *run) become(e *event, state string) {
	if state == r.state || r.again { // who tells again may begin anywhere
		return
	}
	for _, t := range transitions() {
		if t.From != r.state {
			continue
		}
		if !slices.Contains(t.To, state) {
			from := r.state
			if from == "" {
				from = "the beginning"
			}
			e.fail(CodeTransition, e.root.Member("event"), "a task goes from %s to %s, not to %s", from, strings.Join(t.To, ", "), quote(state))
		}
		r.state = state
		return
	}
}

// setTier notes the tier that a task event names.
func (r *run) setTier(e *event) {
	tier := e.text(e.payload, "autonomy_tier")
	if tier == "" {
		return
	}
	if !slices.Contains(tiers(), tier) {
		e.fail(CodePayload, e.payload.Member("autonomy_tier"), "expected one of %s", strings.Join(tiers(), ", "))
	}
	if r.startTier == "" || e.kind == "task.submitted" {
		r.startTier = tier
	}
	r.tier = tier
}

func submitted(r *run, e *event) {
	if r.become(e, "SUBMITTED"); !r.created.IsZero() && !r.again {
		e.fail(CodeTransition, e.root.Member("event"), "a task is submitted once, and this one was before")
	}
	r.setTier(e)
	r.created = e.at

	// The first line that names something counts; that two names differ is told.
	p := e.payload
	r.identify("/identifiers/workspace_ref", &r.ids.WorkspaceRef, e.text(p, "workspace_ref"))
	r.identify("/identifiers/tenant_id", &r.ids.TenantID, e.text(p, "tenant_id"))
	first(&r.ids.PersonaRef, e.text(p, "persona_ref"))
	first(&r.ids.PersonaRef, e.text(p, "persona_id"))
	first(&r.ids.BranchID, e.text(p, "branch_id"))
	first(&r.ids.TraceID, e.text(p, "trace_id"))
	first(&r.policy, e.text(p, "policy_ref"))

	if b := p.Member("autonomy_budget"); !absent(b) {
		r.limit = e.amounts(b)
	}
	if m := p.Member("model_route"); !absent(m) {
		r.models.take(r, e, m)
	}
}

// amounts reads a budget.
func (e *event) amounts(n canon.Node) *receipt.Amounts {
	if n.Kind() != canon.KindObject {
		e.fail(CodePayload, n, "expected an object")
		return nil
	}
	a := &receipt.Amounts{
		InputTokens: e.optionalCount(n, "input_tokens"), OutputTokens: e.optionalCount(n, "output_tokens"),
		ToolCalls: e.optionalCount(n, "tool_calls"), WallTimeMS: e.optionalCount(n, "wall_time_ms"),
	}
	if m, _ := e.cost(n, "usd"); m != nil {
		usd := m.float()
		a.USD = &usd
	}
	return a
}

func started(r *run, e *event) {
	r.become(e, "WORKING")
	r.setTier(e)
	if r.started.IsZero() {
		r.started = e.at
	}
}

func waitsForInput(r *run, e *event) { r.become(e, "INPUT_REQUIRED"); r.setTier(e) }
func waitsForAuth(r *run, e *event)  { r.become(e, "AUTH_REQUIRED"); r.setTier(e) }

// statusChanged is the state event of a transition that has no kind of its own,
// such as from INPUT_REQUIRED back to WORKING. A terminal state has one, and that
// one ends the task.
func statusChanged(r *run, e *event) {
	state := e.required(e.payload, "status")
	r.setTier(e)
	for _, end := range endings() {
		if end.Task == state {
			return
		}
	}
	r.become(e, state)
	if state == "WORKING" && r.started.IsZero() {
		r.started = e.at
	}
}

// ended returns what applies a terminal event.
func ended(state string) func(*run, *event) {
	return func(r *run, e *event) {
		r.become(e, state)
		r.setTier(e)
		r.ended = e.at
		for _, end := range endings() {
			if end.Task == state {
				r.final = end.Receipt
			}
		}

		switch state {
		case "FAILED":
			r.fails(e)
		case "CANCELED":
			first(&r.canceledBy, e.actor())
			first(&r.cancelWhy, e.words(e.payload, "reason"))
		}
	}
}

// fails keeps the failure, an open object, without reasoning that may be in it.
func (r *run) fails(e *event) {
	f := e.payload.Member("failure")
	if absent(f) {
		return
	}
	if f.Kind() != canon.KindObject {
		e.fail(CodePayload, f, "expected an object")
		return
	}
	if size := len(f.AppendCanonical(nil)); size > MaxFailure {
		e.exceed("MaxFailure", f, size)
		return
	}

	value, _ := r.withoutReasoning(e, "/lifecycle/failure", 1, f).(map[string]any)
	r.failure = receipt.Object(value)
}

func cancelRequested(r *run, e *event) {
	first(&r.canceledBy, e.actor())
	first(&r.cancelWhy, e.words(e.payload, "reason"))
}

// cut shortens a text for people; ids are never cut.
func cut(s string) string {
	const most = 1 << 10
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
