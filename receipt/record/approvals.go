package record

import (
	"cmp"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// Approvals are the questions of a task, and of each call the last one.
type approvals struct {
	event.List[approval]
	of      map[string]string // of each call, the last one
	foreign int               // answers from another session than the question
}

// denies reports whether a word says no. Any unknown word means the same.
func denies(word string) bool {
	switch word {
	case "denied", "deny", "rejected", "reject", "refused", "declined", "disallow", "no":
		return true
	}
	return false
}

// named returns the approval that an event names.
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

	// A later line does not rename what was asked.
	first(&a.tool, e.Text(e.Payload, "name"))
	first(&a.action, e.Text(e.Payload, "action"))
	first(&r.ids.policy, e.Text(e.Payload, "policy_ref"))
	return a
}

// id is the id that an event names: an approval's, which durable ones call
// request_id, else that of the last approval of the call, else the call's own.
func (s *approvals) id(e *event.Event) string {
	call := e.Text(e.Payload, "tool_call_id")
	return cmp.Or(e.Text(e.Payload, "approval_id"), e.Text(e.Payload, "request_id"), e.Text(e.Payload.Member("approval_request"), "id"), s.of[call], call)
}

func approvalRequired(r *run, e *event.Event) {
	a := r.approvals.named(r, e)
	nested := e.Payload.Member("approval_request")
	q := &a.question
	for _, n := range [...]canon.Node{e.Payload, nested} { // who asks again may demand more, never less
		q.required = max(q.required, e.Count(n, "approvers_required"))
		if at := e.Time(n, "deadline"); q.deadline.IsZero() || !at.IsZero() && at.Before(q.deadline) {
			q.deadline = at
		}
	}

	q.ask(r, e)
	first(&q.session, e.Session())
	if q.payload != nil { // asked again: the question is the same
		return
	}

	// What is approved is the input of the first question, or what stands for it.
	first(&a.action, e.Text(nested, "action"))
	a.input = e.Content(e.Payload, "input")
	if args := nested.Member("args"); a.input.IsZero() && !event.Absent(args) {
		a.input = event.HashOf(args)
	}
	q.payload = r.Keep(e, e.Payload.AppendCanonical(nil))
}

// confirmation is what a user answered: evidence of the decision, and the
// decision itself when nothing else tells it.
func confirmation(r *run, e *event.Event) {
	a := r.approvals.named(r, e)
	if a.strays(r, e) {
		return
	}
	if !a.confirmed { // the evidence so far was the decision's
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
	if decision == event.Approved { // the kind says the opposite
		decision = event.Denied
	}
	r.approvals.decide(r, e, decision)
}

// timedOut ends an approval. Questions time out too, and are not approvals.
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

// saysNo reports whether an answer that does not approve has a word for it.
func saysNo(e *event.Event) bool {
	for _, name := range []string{"approved", "accepted"} {
		if n := e.Payload.Member(name); n.Kind() == canon.KindBool {
			return true
		}
	}

	// The kind of an event can say it, too.
	n := e.Payload.Member("decision")
	if n.Kind() != canon.KindString {
		return e.Kind != "user.tool_confirmation" && e.Kind != "tool.approved" && event.Absent(n)
	}
	return event.Decisions().Has(n.String()) || denies(n.String())
}

// entries are the approvals as the receipt has them.
func (s *approvals) entries(r *run, t *telling) []receipt.Approval {
	list := []receipt.Approval{}
	for i, a := range s.Order {
		list = append(list, a.entry(r, t, indexed("/approvals", i)))
	}
	return list
}

// A gate is what all questions about one call came to.
type gate struct {
	approved, refused, open bool
	inputs                  []canon.Digest // that were approved
	blank                   bool           // something was approved of which nobody tells the input
	declared                []string
	notes                   details
}

// gatesOf returns those of the calls that questions name.
func gatesOf(r *run) map[string]gate {
	all := map[string]gate{}
	for _, a := range r.approvals.Order {
		if a.call == "" {
			continue
		}
		g := all[a.call]

		// A question that ran out did not refuse; only a word does.
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

		// What the questions told of the call is kept, whatever was decided.
		g.declared = append(g.declared, a.question.declared...)
		g.notes.join(a.question.notes)
		all[a.call] = g
	}

	return all
}

// allows reports whether an input is one of those that were approved. What nobody
// tells is not denied.
func (g gate) allows(input canon.Digest) bool {
	return g.blank || len(g.inputs) == 0 || input.IsZero() || slices.Contains(g.inputs, input)
}
