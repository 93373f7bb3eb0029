package record

import (
	"cmp"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// approvals contains the questions of a task and the answers to them.
type approvals struct {
	event.List[approval]
	of      map[string]string // ID of the last approval of each call
	foreign int               // number of answers from a different session than the question
}

// denies reports whether a word is a known refusal. The function event.DecisionOf also treats
// unknown words as refusals.
func denies(word string) bool {
	switch word {
	case "denied", "deny", "rejected", "reject", "refused", "declined", "disallow", "no":
		return true
	}
	return false
}

// named returns the approval to which an event refers, and creates it if it is new.
func (s *approvals) named(r *run, e *event.Event) *approval {
	id := s.id(e)
	if id == "" {
		e.Fail(event.CodePayload, e.Payload, "the members approval_id and tool_call_id are both missing")
	}

	a, fresh := s.Entry(id)
	if fresh {
		r.Room(e)
		a.id = id
	}
	if call := e.Text(e.Payload, "tool_call_id"); a.call == "" && call != "" {
		a.call = call
		s.of[call] = id
	}

	// Later events do not change the subject of the question.
	first(&a.tool, e.Text(e.Payload, "name"))
	first(&a.action, e.Text(e.Payload, "action"))
	first(&r.ids.policy, e.Text(e.Payload, "policy_ref"))
	return a
}

// id returns the ID of the approval to which an event refers. This is the approval ID (request_id
// for durable approvals), or else the ID of the last approval of the call, or else the call ID.
func (s *approvals) id(e *event.Event) string {
	call := e.Text(e.Payload, "tool_call_id")
	return cmp.Or(e.Text(e.Payload, "approval_id"), e.Text(e.Payload, "request_id"), e.Text(e.Payload.Member("approval_request"), "id"), s.of[call], call)
}

func approvalRequired(r *run, e *event.Event) {
	a := r.approvals.named(r, e)
	nested := e.Payload.Member("approval_request")
	q := &a.question

	// A repeated question may raise the requirements but cannot lower them.
	for _, n := range [...]canon.Node{e.Payload, nested} {
		q.required = max(q.required, e.Count(n, "approvers_required"))
		if at := e.Time(n, "deadline"); q.deadline.IsZero() || !at.IsZero() && at.Before(q.deadline) {
			q.deadline = at
		}
	}

	q.ask(r, e)
	first(&q.session, e.Session())
	if q.payload != nil { // a repeated question does not replace the first
		return
	}

	// The approval covers the input in the first question, or the digest of that input.
	first(&a.action, e.Text(nested, "action"))
	a.input = e.Content(e.Payload, "input")
	if args := nested.Member("args"); a.input.IsZero() && !event.Absent(args) {
		a.input = event.HashOf(args)
	}
	q.payload = r.Keep(e, e.Payload.AppendCanonical(nil))
}

// confirmation applies an answer from a user. A confirmation is evidence of the decision. If no
// other event records a decision, the confirmation is the decision itself.
func confirmation(r *run, e *event.Event) {
	a := r.approvals.named(r, e)
	if a.strays(r, e) {
		return
	}
	if !a.confirmed { // the evidence so far belongs to the decision
		a.confirmed, a.evidence = true, nil
	}
	a.evidence = append(a.evidence, r.Keep(e, e.Payload.AppendCanonical(nil)))
	a.answer(r, e, event.DecisionOf(e.Payload), false)
}

func toolApproved(r *run, e *event.Event) {
	decision := event.Approved
	if !event.Absent(e.Payload.Member("decision")) {
		decision = event.DecisionOf(e.Payload)
	}
	r.approvals.decide(r, e, decision)
}

func toolDenied(r *run, e *event.Event) {
	decision := event.Denied
	if word := e.Payload.Member("decision"); word.Kind() == canon.KindString {
		decision = event.DecisionOf(e.Payload)
	}
	if decision == event.Approved { // the kind of the event contradicts the approval
		decision = event.Denied
	}
	r.approvals.decide(r, e, decision)
}

// timedOut ends an approval without an answer. A question that is not an approval is ignored.
func timedOut(r *run, e *event.Event) {
	if _, ok := r.approvals.ByID[r.approvals.id(e)]; ok {
		r.approvals.decide(r, e, event.TimedOut)
	}
}

// decide applies a decision of the runtime.
func (s *approvals) decide(r *run, e *event.Event, decision string) {
	a := s.named(r, e)
	if a.strays(r, e) {
		return
	}
	if !a.confirmed {
		a.evidence = append(a.evidence, r.Keep(e, e.Payload.AppendCanonical(nil)))
	}
	a.answer(r, e, decision, true)
}

// saysNo reports whether an event records a refusal by a known word, a flag, or its kind.
func saysNo(e *event.Event) bool {
	for _, name := range []string{"approved", "accepted"} {
		if n := e.Payload.Member(name); n.Kind() == canon.KindBool {
			return true
		}
	}

	// If there is no decision word, the kind of the event may record the refusal.
	n := e.Payload.Member("decision")
	if n.Kind() != canon.KindString {
		return e.Kind != "user.tool_confirmation" && e.Kind != "tool.approved" && event.Absent(n)
	}
	return event.Decisions().Has(n.String()) || denies(n.String())
}

// entries returns the approvals for the receipt.
func (s *approvals) entries(r *run, t *telling) []receipt.Approval {
	list := []receipt.Approval{}
	for i, a := range s.Order {
		list = append(list, a.entry(r, t, indexed("/approvals", i)))
	}
	return list
}

// A gate combines all questions about one call.
type gate struct {
	approved, refused, open bool
	inputs                  []canon.Digest // approved inputs
	blank                   bool           // the approved input was not recorded
	declared                []string
	notes                   details
}

// gatesOf returns a gate for each call to which an approval refers, keyed by call ID.
func gatesOf(r *run) map[string]gate {
	all := map[string]gate{}
	for _, a := range r.approvals.Order {
		if a.call == "" {
			continue
		}
		g := all[a.call]

		// Only an explicit refusal stops the call. A question without an answer stays open.
		switch decision, _, _ := a.decision(r); {
		case decision == event.Approved:
			g.approved = true
			input := a.input
			last(&input, a.grant.args)
			if g.blank = g.blank || input.IsZero(); !input.IsZero() {
				g.inputs = append(g.inputs, input)
			}
		case a.open() || decision == event.TimedOut:
			g.open = true
		default:
			g.refused = true
		}

		// Details from the questions are recorded regardless of the decision.
		g.declared = append(g.declared, a.question.declared...)
		g.notes.join(a.question.notes)
		all[a.call] = g
	}

	return all
}

// allows reports whether an input was approved. If the approved input was not recorded, the
// approval is still valid.
func (g gate) allows(input canon.Digest) bool {
	return g.blank || len(g.inputs) == 0 || input.IsZero() || slices.Contains(g.inputs, input)
}
